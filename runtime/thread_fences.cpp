#include "thread_fences.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sinter::inline v1::runtime {
namespace {

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

const bool has_membarrier = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);

bool fence_all_threads() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return !has_membarrier || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
         (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}

}  // namespace sinter::inline v1::runtime
