#include "late_work.hpp"

#include <tbb/task_arena.h>

#include <atomic>
#include <charconv>
#include <string>
#include <vector>

#include "../environment.hpp"
#include "memory_check.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

constexpr const char* variable = "SINTER_VIRTUAL_LATE";

/// -1 if there is none.
std::int64_t seed_from_environment() {
  const std::string text = environment(variable);
  std::uint32_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (text.empty()) return -1;
  if (error == std::errc{} && end == text.data() + text.size()) return seed;
  report_unreadable(variable, text, "a seed: a number from 0 to 4294967295", "doing all work at once");
  return -1;
}

}  // namespace

bool is_late() noexcept {
  static constinit std::atomic<int> known{-1};  // constant-initialized: neither threads nor a fork's child wait for it
  int late = known.load(std::memory_order_relaxed);
  if (late < 0) known.store(late = !is_strict() && seed_from_environment() >= 0, std::memory_order_relaxed);
  return late;
}

LateWork::LateWork() : random_(static_cast<std::uint32_t>(seed_from_environment())) {}

LateWork& LateWork::instance() {
  static constinit NoDestructor<LateWork> only;  // buffers with static storage may outlive everything else
  return only.get();
}

void LateWork::reseed(std::uint32_t seed) {
  const std::lock_guard lock(mutex_.get());
  random_.seed(seed);
}

void LateWork::add(StreamName stream, Item item) {
  Line& line = lines_[stream];
  line.items.push_back(std::move(item));
  ++line.issued;
}

void LateWork::issue(StreamName stream, std::function<void()> work) {
  const std::lock_guard lock(mutex_.get());
  add(stream, {std::move(work), {}});
  if (random_() % 3 == 0) do_some(4);
}

LateWork::Mark LateWork::end_of(StreamName stream) {
  const std::lock_guard lock(mutex_.get());
  return {stream, lines_[stream].issued};
}

void LateWork::wait(StreamName stream, const Mark& other) {
  const std::lock_guard lock(mutex_.get());
  add(stream, {nullptr, other});
}

bool LateWork::is_over(const Mark& mark) {
  const std::lock_guard lock(mutex_.get());
  const bool over = is_over_locked(mark);
  if (!over) do_some(4);
  return over;
}

void LateWork::finish(const Mark& mark) {
  const std::lock_guard lock(mutex_.get());
  while (!is_over_locked(mark))
    if (random_() % 4 == 0)
      do_some(1);
    else
      do_needed(mark.stream);
}

void LateWork::do_first_of(Line& line) {
  const Item item = std::move(line.items.front());
  line.items.pop_front();
  // Otherwise a thread that waits for other parts of a kernel might run a task that enters here.
  if (item.work) tbb::this_task_arena::isolate(item.work);
  ++line.done;
}

/// Does the stream's next work, or the work that it waits for.
void LateWork::do_needed(StreamName stream) {
  while (!is_ready(lines_[stream])) stream = lines_[stream].items.front().after.stream;
  do_first_of(lines_[stream]);
}

void LateWork::do_some(std::uint32_t most) {
  for (std::uint32_t n = 1 + random_() % most; n > 0; --n) {
    std::vector<Line*> ready;
    for (auto& [name, line] : lines_)
      if (is_ready(line)) ready.push_back(&line);
    if (ready.empty()) return;
    do_first_of(*ready[random_() % ready.size()]);
  }
}

}  // namespace sinter::inline v1::runtime::vgpu
