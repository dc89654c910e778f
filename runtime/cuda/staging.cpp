#include "staging.hpp"

#include <algorithm>
#include <cstring>

#include "../waits.hpp"
#include "stream_watch.hpp"

namespace sinter::inline v1::runtime {
namespace {

using driver::CUresult;
using driver::success;

constexpr std::size_t ring_bytes = std::size_t(8) << 20;
constexpr std::size_t chunk_bytes = std::size_t(2) << 20;  // copying one chunk overlaps with sending another
constexpr std::size_t grain = 256;

}  // namespace

CUresult Staging::upload(driver::CUdeviceptr to, const std::byte* host, std::size_t bytes, driver::CUstream stream) {
  const std::lock_guard lock(mutex_);
  if (!ring_ && !refused_) {
    void* memory = nullptr;
    refused_ = driver_.cuMemHostAlloc(&memory, ring_bytes, 0) != success;
    ring_ = static_cast<std::byte*>(memory);
  }
  if (refused_) return direct(to, host, bytes, stream);
  while (bytes) {
    const std::size_t n = std::min(bytes, chunk_bytes);
    if (const CUresult result = chunk(to, host, n, stream); result != success) return result;
    to += n;
    host += n;
    bytes -= n;
  }
  return success;
}

CUresult Staging::direct(driver::CUdeviceptr to, const std::byte* host, std::size_t bytes, driver::CUstream stream) {
  watch(driver_, stream);
  if (const CUresult result = driver_.cuMemcpyHtoDAsync(to, host, bytes, stream); result != success) return result;
  const WaitSpan wait("wait for the copy");
  return runtime::synchronize(driver_, stream);
}

CUresult Staging::chunk(driver::CUdeviceptr to, const std::byte* host, std::size_t bytes, driver::CUstream stream) {
  const std::size_t offset = head_ % ring_bytes;
  if (offset + bytes > ring_bytes) head_ += ring_bytes - offset;  // a chunk does not wrap around
  const std::uint64_t end = head_ + (bytes + grain - 1) / grain * grain;
  if (const CUresult result = make_room(end); result != success) return result;
  Chunk sent{head_, nullptr};
  if (const CUresult result = take_event(sent.done); result != success) return result;  // before there is work to track
  const CUresult result = send(sent, to, host, bytes, stream);
  if (result == success) {
    chunks_.push_back(sent);
    head_ = end;
  } else {
    idle_events_.push_back(sent.done);
  }
  return result;
}

CUresult Staging::send(const Chunk& chunk, driver::CUdeviceptr to, const std::byte* host, std::size_t bytes,
                       driver::CUstream stream) {
  std::byte* staged = ring_ + chunk.begin % ring_bytes;
  std::memcpy(staged, host, bytes);
  if (const CUresult result = driver_.cuMemcpyHtoDAsync(to, staged, bytes, stream); result != success) return result;
  const CUresult result = driver_.cuEventRecord(chunk.done, stream);
  if (result != success) driver_.cuStreamSynchronize(stream);  // no event marks the end of the copy
  return result;
}

CUresult Staging::make_room(std::uint64_t end) {
  while (!chunks_.empty() && chunks_.front().begin + ring_bytes < end) {
    const driver::CUevent done = chunks_.front().done;
    const WaitSpan wait("wait for staging memory");
    if (const CUresult result = runtime::synchronize(driver_, done); result != success) return result;
    idle_events_.push_back(done);
    chunks_.pop_front();
  }
  return success;
}

CUresult Staging::take_event(driver::CUevent& event) {
  if (idle_events_.empty()) return driver_.cuEventCreate(&event, driver::event_disable_timing);
  event = idle_events_.back();
  idle_events_.pop_back();
  return success;
}

void Staging::clear() noexcept {
  for (const Chunk& chunk : chunks_) driver_.cuEventDestroy(chunk.done);
  for (const driver::CUevent event : idle_events_) driver_.cuEventDestroy(event);
  chunks_.clear();
  idle_events_.clear();
  if (ring_) driver_.cuMemFreeHost(ring_);
  ring_ = nullptr;
}

}  // namespace sinter::inline v1::runtime
