#include "retired_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

namespace sinter::inline v1::runtime {
namespace {

/// Never unloads it. Takes no memory.
void leave_loaded(std::shared_ptr<void> kernel) noexcept {
  alignas(std::shared_ptr<void>) std::byte place[sizeof kernel];
  new (place) std::shared_ptr(std::move(kernel));
}

}  // namespace

Function RetiredKernels::share(std::shared_ptr<void> kernel) {
  void* const handle = kernel.get();
  return Function(std::shared_ptr<void>(handle, [retired = shared_from_this(), owner = std::move(kernel)](
                                                    void*) mutable noexcept { retired->add(std::move(owner)); }));
}

void RetiredKernels::add(std::shared_ptr<void> kernel) noexcept {
  try {
    const ForkSafeLock lock(mutex_, std::nothrow);
    if (!closed_) retired_.emplace_back().kernel = std::move(kernel);
  } catch (...) {  // no memory to remember it
  }
  if (kernel)
    leave_loaded(std::move(kernel));
  else
    unload_done();
}

/// While a stream captures a graph, nobody can tell when its earlier work is done.
void RetiredKernels::find_uses() {
  if (std::ranges::all_of(retired_, [](const Retired& r) { return r.uses != nullptr; })) return;
  std::optional<Uses> ends = streams_.ends();
  if (!ends) return;
  const auto uses = std::make_shared<Uses>(std::move(*ends));
  for (Retired& r : retired_)
    if (!r.uses) r.uses = uses;
}

bool RetiredKernels::is_done(const Retired& retired) {
  if (!retired.uses) return false;
  std::erase_if(*retired.uses, [&](const EventRef& e) { return streams_.is_done(*e); });
  return retired.uses->empty();
}

void RetiredKernels::unload_done() noexcept try {
  std::vector<Retired> done;  // destroyed without the lock
  const ForkSafeLock lock(mutex_, std::nothrow);
  if (retired_.empty()) return;
  find_uses();
  done.reserve(retired_.size());
  const auto first = std::partition(retired_.begin(), retired_.end(), [&](const Retired& r) { return !is_done(r); });
  std::move(first, retired_.end(), std::back_inserter(done));
  retired_.erase(first, retired_.end());
} catch (...) {  // no memory, a device that is lost, or a parent's
}

void RetiredKernels::close() noexcept {
  std::vector<Retired> all;
  const ForkSafeLock lock(mutex_, std::nothrow);
  closed_ = true;
  all.swap(retired_);
}

}  // namespace sinter::inline v1::runtime
