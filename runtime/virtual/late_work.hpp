// Deferred work on streams of virtual GPUs: done when it is waited for, or at a random earlier time, in any order that
// streams, events and waits allow. Missing ordering then gives wrong results for some seeds, as on a busy GPU; the
// strict tier finds it from the accesses, whatever the order.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>

#include "../fork.hpp"
#include "happens_before.hpp"

namespace sinter::inline v1::runtime::vgpu {

/// Whether SINTER_VIRTUAL_LATE has a seed. The strict tier does everything at once regardless.
bool is_late() noexcept;

/// For all virtual GPUs. Thread-safe; one item of work runs at a time, on the thread that waits or issues more.
class LateWork {
 public:
  static LateWork& instance();

  /// The end of everything issued to a stream so far.
  struct Mark {
    StreamName stream{0, nullptr};
    std::uint64_t position = 0;
  };

  /// `work` must not throw or issue work.
  void issue(StreamName stream, std::function<void()> work);
  Mark end_of(StreamName stream);
  void wait(StreamName stream, const Mark& other);
  /// Does some of the work, so that repeated queries terminate.
  bool is_over(const Mark& mark);
  void finish(const Mark& mark);

  /// For tests.
  void reseed(std::uint32_t seed);

 private:
  struct Item {
    std::function<void()> work;  // null: waits for another stream
    Mark after;
  };
  struct Line {
    std::deque<Item> items;
    std::uint64_t issued = 0, done = 0;
  };
  LateWork();
  bool is_over_locked(const Mark& mark) { return lines_[mark.stream].done >= mark.position; }
  bool is_ready(const Line& line) { return !line.items.empty() && is_over_locked(line.items.front().after); }
  void add(StreamName stream, Item item);
  void do_first_of(Line& line);
  void do_needed(StreamName stream);
  void do_some(std::uint32_t most);

  friend NoDestructor<LateWork>;
  ForkLocal<std::mutex> mutex_;
  std::map<StreamName, Line> lines_;  // kept forever: another stream may get the same handle
  std::mt19937 random_;
};

}  // namespace sinter::inline v1::runtime::vgpu
