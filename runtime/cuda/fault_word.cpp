#include "fault_word.hpp"

#include <sinter/runtime/fault.hpp>
#include "../fork.hpp"

namespace sinter::inline v1::runtime {

void FaultWord::raise(Device device) const {
  std::uint32_t* const word = word_.load(std::memory_order_acquire);
  if (!word) return;
  if (const std::uint32_t code = std::atomic_ref(*word).exchange(0)) throw_fault(code, to_string(device));
}

void FaultWord::clear() noexcept {
  if (std::uint32_t* const word = word_.exchange(nullptr)) d_.cuMemFreeHost(word);
}

void FaultWord::allocate(const CudaContext& context) {
  const ContextGuard current(context);
  const ForkSafeLock lock(mutex_);
  if (word_.load(std::memory_order_relaxed)) return;
  void* word = nullptr;
  context.check("cuMemHostAlloc", d_.cuMemHostAlloc(&word, sizeof(std::uint32_t), driver::host_memory_mapped),
                "the word in which kernels report faults");
  *static_cast<std::uint32_t*>(word) = 0;
  word_.store(static_cast<std::uint32_t*>(word), std::memory_order_release);
}

}  // namespace sinter::inline v1::runtime
