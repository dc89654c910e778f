#include "retired_kernels.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

#include "never_destroy.hpp"

namespace sinter::inline v1::runtime {

KernelHandle RetiredKernels::share(std::shared_ptr<void> kernel) {
  void* const handle = kernel.get();
  return KernelHandle(std::shared_ptr<void>(handle, [retired = shared_from_this(), owner = std::move(kernel)](
                                                        void*) mutable noexcept { retired->add(std::move(owner)); }));
}

void RetiredKernels::add(std::shared_ptr<void> kernel) noexcept {
  try {
    const ForkSafeLock lock(mutex_, std::nothrow);
    if (!closed_) retired_.emplace_back().kernel = std::move(kernel);
  } catch (...) {  // out of memory
  }
  if (kernel)
    never_destroy(std::move(kernel));
  else
    unload_done();
}

/// While a stream captures a graph, the end of its earlier work cannot be queried.
void RetiredKernels::find_uses() {
  if (std::ranges::all_of(retired_, [](const Retired& r) { return r.uses != nullptr; })) return;
  std::optional<StreamUses> ends = streams_.ends();
  if (!ends) return;
  const auto uses = std::make_shared<StreamUses>(std::move(*ends));
  for (Retired& r : retired_)
    if (!r.uses) r.uses = uses;
}

bool RetiredKernels::is_done(Retired& retired) {
  if (!retired.uses) return false;
  try {
    while (!retired.uses->empty() && streams_.is_past(*retired.uses->back())) retired.uses->pop_back();
  } catch (...) {  // an event may have become part of a graph: record new ones
    retired.uses = nullptr;
    throw;
  }
  return retired.uses->empty();
}

void RetiredKernels::unload_done() noexcept try {
  std::vector<Retired> done;  // destroyed after unlocking
  const ForkSafeLock lock(mutex_, std::nothrow);
  if (retired_.empty()) return;
  find_uses();
  // Kernels retired later are done later.
  const auto last = std::ranges::find_if_not(retired_, [&](Retired& r) { return is_done(r); });
  done.reserve(static_cast<std::size_t>(last - retired_.begin()));
  std::move(retired_.begin(), last, std::back_inserter(done));
  retired_.erase(retired_.begin(), last);
} catch (...) {  // out of memory, or the device is lost or the parent's
}

void RetiredKernels::close() noexcept {
  std::vector<Retired> all;
  const ForkSafeLock lock(mutex_, std::nothrow);
  closed_ = true;
  all.swap(retired_);
}

}  // namespace sinter::inline v1::runtime
