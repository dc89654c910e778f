// Where a GPU's kernels report faults.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

#include <sinter/runtime/device.hpp>

#include "context.hpp"

namespace sinter::inline v1::runtime {

/// The word that kernels report in: host memory that the device reaches, so that looking costs no copy. With unified
/// addresses, which every driver on 64 bits has, both sides use one address.
class FaultWord {
 public:
  explicit FaultWord(const driver::Driver& d) : d_(d) {}

  std::uint64_t address(const CudaContext& context) {
    if (!word_.load(std::memory_order_acquire)) [[unlikely]]
      allocate(context);
    return reinterpret_cast<std::uint64_t>(word_.load(std::memory_order_relaxed));
  }
  /// To be called when the device has been waited for.
  void raise(Device device) const;
  void clear() noexcept;

 private:
  void allocate(const CudaContext& context);

  const driver::Driver& d_;
  std::mutex mutex_;
  std::atomic<std::uint32_t*> word_{nullptr};
};

}  // namespace sinter::inline v1::runtime
