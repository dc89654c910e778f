// The driver's copy of n floats within the device: the bound set by its memory.
#pragma once
#include <sinter/runtime/backend.hpp>
#include <sinter/sinter.hpp>

namespace bench {

struct GpuCopy {
  explicit GpuCopy(std::size_t n)
      : from(sinter::rand({static_cast<std::int64_t>(n)}, sinter::cuda<>)), to(sinter::empty_like(from)) {}
  void run() { gpu.copy(to.data(), from.data(), 4 * static_cast<std::size_t>(from.numel()), gpu); }
  void wait() { gpu.synchronize(); }
  sinter::runtime::GpuBackend& gpu = sinter::runtime::gpu(sinter::current_device());
  sinter::Tensor<float, sinter::Cuda<>> from, to;
};

}  // namespace bench
