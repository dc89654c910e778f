// Host memory, directly from the operating system.
#pragma once
#include "../pool.hpp"

namespace sinter::inline v1::runtime {

class HostMemory final : public MemorySource {
 public:
  HostMemory();
  /// Also returns null for more than the total memory: the system would grant it and later kill the process.
  void* acquire(std::size_t bytes, StreamImpl*) override;
  void release(void* data, std::size_t bytes, StreamImpl*, Fence) noexcept override;
  /// The memory available without swapping; the total respects a container's limit (cgroup v2).
  MemoryInfo memory() const override;

 private:
  std::size_t total_;
  std::size_t most_;  // including swap
};

}  // namespace sinter::inline v1::runtime
