// The memory sources of a GPU's pool and of the pool of pinned memory.
#pragma once
#include "../cpu/host_memory.hpp"
#include "../pool.hpp"
#include "cuda_streams.hpp"

namespace sinter::inline v1::runtime {

inline driver::CUdeviceptr device_address(const void* data) noexcept {
  return reinterpret_cast<driver::CUdeviceptr>(data);
}

/// A GPU's memory, in stream order if the driver supports it.
class CudaMemory final : public MemorySource {
 public:
  CudaMemory(const CudaContext& context, Streams& streams);

  /// Throws CudaError while the stream captures a graph.
  void* acquire(std::size_t bytes, StreamImpl* stream) override;
  void release(void* data, std::size_t bytes, StreamImpl* stream, Fence fence) noexcept override;
  void synchronize() override { streams_.synchronize(); }
  MemoryInfo memory() const override;

 private:
  StreamImpl& alive(StreamImpl* stream);

  const CudaContext& context_;
  const driver::Driver& d_;
  Streams& streams_;
  bool in_order_;
};

/// Page-locked host memory, for every GPU.
class PinnedMemory final : public MemorySource {
 public:
  explicit PinnedMemory(const CudaContext& context) : context_(context), d_(context.driver()) {}

  void* acquire(std::size_t bytes, StreamImpl*) override;
  void release(void* data, std::size_t bytes, StreamImpl*, Fence fence) noexcept override;
  MemoryInfo memory() const override { return host_.memory(); }

 private:
  const CudaContext& context_;
  const driver::Driver& d_;
  HostMemory host_;
};

}  // namespace sinter::inline v1::runtime
