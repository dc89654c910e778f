// Which work on streams happens before which, for the strict tier: virtual GPUs do everything at once, in the order of
// the calls, while on a GPU only what events and waits put in order is in order. Vector clocks: Mattern 1989, "Virtual
// Time and Global States of Distributed Systems".
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sinter/runtime/fork.hpp>
#include <sinter/runtime/stream_impl.hpp>

namespace sinter::inline v1::runtime::vgpu {

/// Of each stream, how much of its work is over.
class Clock {
 public:
  void merge(const Clock& other);
  void set(std::uint32_t stream, std::uint32_t tick);
  bool covers(std::uint32_t stream, std::uint32_t tick) const noexcept;
  bool covers(const Clock& other) const noexcept;

 private:
  std::vector<std::uint32_t> ticks_;  // by stream
};

/// A launch or a copy, or several of them that nothing puts in order.
enum class Work : std::uint32_t { None };

/// Of all virtual GPUs. Thread-safe. The program's threads count as one, which knows what each of them waited for.
class HappensBefore {
 public:
  static HappensBefore& instance();

  struct Issued {
    Work work;
    Clock before;  // what is over when it begins, itself included
  };
  /// The stream's next piece of work. `what` names it in messages.
  Issued issue(const StreamImpl& stream, std::string what);
  /// What is over when the stream's next piece of work begins, or an event that is recorded now.
  Clock before_next(const void* stream);
  bool is_before(Work work, const Clock& now);
  /// Both, less what of `a` is before `b`.
  Work joined(Work a, const Issued& b);
  /// One of `work` that is not before `now`: "kernel f on the default stream of cuda:0".
  std::string describe(Work work, const Clock& now);

  void wait(const void* stream, const Clock& event);
  void host_waits(const void* stream);
  void host_waits(const Clock& event);
  /// As a driver's query: that work nobody waited for is over is seen when it is asked for the second time.
  bool is_seen_over(const void* stream);
  bool is_seen_over(const Clock& event, bool& asked);
  void forget(const void* stream) noexcept;

 private:
  friend ForkHandler;
  void before_fork() noexcept { mutex_.lock(); }
  void after_fork(bool) noexcept { mutex_.unlock(); }
  struct Timeline {
    std::uint32_t number;
    std::uint32_t tick = 0;
    Clock before;
    bool asked = false;
  };
  struct Point {
    std::uint32_t stream, tick;
    std::string what, where;
    bool is_before(const Clock& now) const noexcept { return now.covers(stream, tick); }
  };
  Timeline& timeline(const void* stream);
  std::vector<Point>& points(Work work) noexcept { return works_[static_cast<std::size_t>(work)]; }
  Work add(std::vector<Point> points);

  std::mutex mutex_;
  std::map<const void*, Timeline> streams_;  // by the driver's handle
  std::uint32_t numbers_ = 0;
  Clock host_;
  std::vector<std::vector<Point>> works_{1};  // by Work
  std::map<std::pair<Work, Work>, Work> joined_;
  ForkHandler fork_handler_{*this, ForkHandler::Order::Inner};  // arenas' and streams' locks are taken before this one
};

/// One launch or copy against what touched its memory before. They take turns: it lives as long as the work runs.
class StreamOrder {
 public:
  StreamOrder(const StreamImpl& stream, std::string what);

  Work work() const noexcept { return issued_.work; }
  bool is_after(Work before);
  /// What a byte's next user must come after, when this follows `before` or runs beside it.
  Work after(Work before) { return is_after(before) ? work() : joined(before); }
  /// "kernel f on the default stream of cuda:0: nothing makes stream 0x1234 of cuda:0 wait for it".
  std::string why_not_after(Work before) const;

 private:
  Work joined(Work before);

  std::unique_lock<std::mutex> turn_;
  std::string where_;
  HappensBefore::Issued issued_;
  Work known_before_ = Work::None;  // asked for last
  std::pair<Work, Work> known_joined_{};
};

}  // namespace sinter::inline v1::runtime::vgpu
