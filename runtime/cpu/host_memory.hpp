// Memory of the host, straight from the operating system.
#pragma once
#include "../pool.hpp"

namespace sinter::inline v1::runtime {

class HostMemory final : public MemorySource {
 public:
  HostMemory();
  /// Null also for more than all the memory there is: the system would promise it and later kill the process.
  void* acquire(std::size_t bytes, StreamImpl*) override;
  void release(void* data, std::size_t bytes, StreamImpl*, Fence) noexcept override;
  /// What is available without swapping; total respects the limit of a container (cgroup v2).
  MemoryInfo memory() const override;

 private:
  std::size_t total_;
  std::size_t most_;  // with swap
};

}  // namespace sinter::inline v1::runtime
