#include "history.hpp"

#include <deque>
#include <mutex>
#include <utility>

#include <runtime/fork.hpp>

namespace sinter::inline v1 {
namespace jit {
namespace {

struct History {
  std::mutex mutex;
  std::deque<KernelRecord> records;
};
constinit runtime::NoDestructor<History> history;

}  // namespace

void remember(KernelRecord record) {
  History& h = history.get();
  const runtime::ForkSafeLock lock(h.mutex);
  if (h.records.size() == max_kernel_history) h.records.pop_front();
  h.records.push_back(std::move(record));
}

}  // namespace jit

const char* to_string(KernelOrigin origin) noexcept {
  switch (origin) {
    case KernelOrigin::Compiled: return "compiled";
    case KernelOrigin::Disk: return "disk";
    case KernelOrigin::Memory: break;
  }
  return "memory";
}

std::vector<KernelRecord> kernel_history() {
  jit::History& h = jit::history.get();
  const runtime::ForkSafeLock lock(h.mutex);
  return {h.records.begin(), h.records.end()};
}

}  // namespace sinter::inline v1
