#include "cuda_memory.hpp"

#include <fmt/format.h>

#include <sinter/runtime/error.hpp>

#include "../text.hpp"

namespace sinter::inline v1::runtime {

CudaMemory::CudaMemory(const CudaContext& context, Streams& streams)
    : context_(context),
      d_(context.driver()),
      streams_(streams),
      in_order_(d_.cuMemAllocAsync && d_.cuMemFreeAsync && context.attribute(driver::attribute_memory_pools)) {}

void* CudaMemory::acquire(std::size_t bytes, StreamImpl* stream) {
  StreamImpl& user = stream ? *stream : streams_.standard();
  if (streams_.is_capturing(user))
    throw CudaError(fmt::format(
        "CUDA error: {} more of cuda:{}'s memory are needed while its stream captures a graph, which cannot "
        "contain an allocation. Allocate the result before the capture and write to it: y.assign(e)",
        format_bytes(bytes), context_.index()));
  const ContextGuard current(context_);
  driver::CUdeviceptr data = 0;
  const driver::CUresult result =
      in_order_ ? d_.cuMemAllocAsync(&data, bytes, cuda_stream(user)) : d_.cuMemAlloc(&data, bytes);
  if (result == driver::error_out_of_memory) return nullptr;
  context_.check(in_order_ ? "cuMemAllocAsync" : "cuMemAlloc", result, fmt::format("{} bytes", bytes));
  return reinterpret_cast<void*>(data);
}

/// A foreign stream's handle may have become invalid; the default stream, ordered after its last work, replaces it.
StreamImpl& CudaMemory::alive(StreamImpl* stream) {
  if (!stream) return streams_.standard();
  if (!streams_.is_retired(*stream)) return *stream;
  wait_for(streams_.standard(), *stream);
  return streams_.standard();
}

void CudaMemory::release(void* data, std::size_t, StreamImpl* stream, Fence fence) noexcept try {
  const ContextGuard current(context_);
  // A failure cannot be reported: the device is lost, or the process is about to end.
  if (!in_order_) {
    d_.cuMemFree(device_address(data));  // waits for the device itself
    return;
  }
  StreamImpl& last = alive(stream);
  if (fence)
    for (const EventRef& e : *fence) wait_for(last, *e);
  d_.cuMemFreeAsync(device_address(data), cuda_stream(last));
} catch (...) {
}

MemoryInfo CudaMemory::memory() const {
  const ContextGuard current(context_);
  MemoryInfo info{0, 0};
  context_.check("cuMemGetInfo", d_.cuMemGetInfo(&info.free, &info.total));
  return info;
}

void* PinnedMemory::acquire(std::size_t bytes, StreamImpl*) {
  const ContextGuard current(context_);
  void* data = nullptr;
  const driver::CUresult result = d_.cuMemHostAlloc(&data, bytes, driver::host_portable);
  if (result == driver::error_out_of_memory) return nullptr;
  context_.check("cuMemHostAlloc", result, fmt::format("{} bytes", bytes));
  return data;
}

void PinnedMemory::release(void* data, std::size_t, StreamImpl*, Fence fence) noexcept try {
  if (fence)
    for (const EventRef& e : *fence) e->owner.synchronize(*e);
  const ContextGuard current(context_);
  d_.cuMemFreeHost(data);
} catch (...) {
}

}  // namespace sinter::inline v1::runtime
