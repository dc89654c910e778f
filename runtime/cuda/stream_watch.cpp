#include "stream_watch.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include <sinter/runtime/error.hpp>
#include "../collective/limits.hpp"
#include "../fork.hpp"

namespace sinter::inline v1::runtime {
namespace {

struct Watches {
  ForkLocal<std::mutex> mutex;
  std::vector<StreamWatch*> all;
  std::uint64_t failures = 0;
  std::string last_failure;
};
Watches& watches() {
  static constinit NoDestructor<Watches> only;
  return only.get();
}
constinit std::atomic<int> expected{0};

std::uint64_t failures_so_far() {
  const std::lock_guard lock(watches().mutex.get());
  return watches().failures;
}

/// Polls the watches. Throws if one has aborted work since the failure count was `failures`.
void look_around(std::uint64_t failures) {
  Watches& w = watches();
  const std::lock_guard lock(w.mutex.get());
  for (StreamWatch* watch : w.all)
    if (std::string why = watch->look(); !why.empty()) {
      ++w.failures;
      w.last_failure = std::move(why);
    }
  if (w.failures != failures) throw Error(w.last_failure);
}

/// Polls until `ask` returns a result other than "not ready".
template <class F>
void watch_until_done(const driver::Driver& d, F ask) {
  if (expected.load(std::memory_order_acquire) == 0) return;
  const std::uint64_t failures = failures_so_far();
  const RelaxedCaptureMode may_ask(d);
  for (int polls = 0; ask() == driver::error_not_ready; pause_after(++polls)) look_around(failures);
  if (failures_so_far() != failures) look_around(failures);  // it ended because it was aborted
}

}  // namespace

void StreamWatch::end_watch() noexcept {
  const std::lock_guard lock(watches().mutex.get());
  std::erase(watches().all, this);
  expect(0);
}

void StreamWatch::expect(int operations) {
  if (operations > 0 && !is_asked_) {
    const std::lock_guard lock(watches().mutex.get());
    watches().all.push_back(this);
    is_asked_ = true;
  }
  expected.fetch_add(operations - expected_, std::memory_order_acq_rel);
  expected_ = operations;
}

void watch(const driver::Driver& d, driver::CUstream stream) {
  watch_until_done(d, [&] { return d.cuStreamQuery(stream); });
}

driver::CUresult synchronize(const driver::Driver& d, driver::CUstream stream) {
  watch(d, stream);
  return d.cuStreamSynchronize(stream);
}

driver::CUresult synchronize(const driver::Driver& d, driver::CUevent event) {
  watch_until_done(d, [&] { return d.cuEventQuery(event); });
  return d.cuEventSynchronize(event);
}

}  // namespace sinter::inline v1::runtime
