// The word in which a GPU's kernels report faults.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

#include <sinter/runtime/device.hpp>

#include "context.hpp"

namespace sinter::inline v1::runtime {

/// Host memory that the device can access, so that reading it needs no copy. With unified addressing, which every
/// 64-bit driver has, both sides use the same address.
class FaultWord {
 public:
  explicit FaultWord(const driver::Driver& d) : d_(d) {}

  std::uint64_t address(const CudaContext& context) {
    if (!word_.load(std::memory_order_acquire)) [[unlikely]]
      allocate(context);
    return reinterpret_cast<std::uint64_t>(word_.load(std::memory_order_relaxed));
  }
  /// Must be called after waiting for the device.
  void raise(Device device) const;
  void clear() noexcept;

 private:
  void allocate(const CudaContext& context);

  const driver::Driver& d_;
  std::mutex mutex_;
  std::atomic<std::uint32_t*> word_{nullptr};
};

}  // namespace sinter::inline v1::runtime
