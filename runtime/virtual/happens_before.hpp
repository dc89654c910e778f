// The happens-before order of work on streams, for the strict tier. Virtual GPUs do everything at once in call order,
// while on a real GPU only events and waits order work. Vector clocks: Mattern 1989, "Virtual Time and Global States of
// Distributed Systems".
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sinter/runtime/stream_impl.hpp>
#include "../fork.hpp"

namespace sinter::inline v1::runtime::vgpu {

/// A vector clock: for each stream, how much of its work is done.
class Clock {
 public:
  void merge(const Clock& other);
  void set(std::uint32_t stream, std::uint32_t tick);
  bool covers(std::uint32_t stream, std::uint32_t tick) const noexcept;
  bool covers(const Clock& other) const noexcept;

 private:
  std::vector<std::uint32_t> ticks_;  // by stream
};

/// The driver's handle of a stream, and its GPU. Each GPU has a stream without a handle: the legacy default stream.
struct StreamName {
  int gpu;
  const void* native;
  explicit StreamName(const StreamImpl& stream);
  StreamName(int g, const void* n) noexcept : gpu(g), native(n) {}
  auto operator<=>(const StreamName&) const = default;
};

/// A launch or a copy, or several without an order among them.
enum class Work : std::uint32_t { None };

/// For all virtual GPUs. Thread-safe. The program's threads count as one: a wait by any of them counts for all.
class HappensBefore {
 public:
  static HappensBefore& instance();

  struct Issued {
    Work work;
    Clock before;  // the work that is done when it begins, including itself
  };
  /// Issues the stream's next work. `what` names it in messages.
  Issued issue(const StreamImpl& stream, std::string what);
  /// The work that is done when the stream's next work begins, or when an event recorded now is done.
  Clock before_next(StreamName stream);
  bool is_before(Work work, const Clock& now);
  /// Both, without the work of `a` that is before `b`.
  Work joined(Work a, const Issued& b);
  /// A part of `work` that is not before `now`: "kernel f on the default stream of cuda:0".
  std::string describe(Work work, const Clock& now);

  void wait(StreamName stream, const Clock& event);
  void host_waits(StreamName stream);
  void host_waits(const Clock& event);
  /// Like a driver query: work that nobody waited for is reported as done on the second query.
  bool is_seen_over(StreamName stream);
  bool is_seen_over(const Clock& event, bool& asked);
  void forget(StreamName stream) noexcept;

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
    std::uint32_t stream, tick, what, where;
    bool is_before(const Clock& now) const noexcept { return now.covers(stream, tick); }
  };
  struct Points {
    std::size_t first, count;
  };
  Timeline& timeline(StreamName stream);
  std::uint32_t number_of(std::string name);
  std::span<const Point> points(Work work) const noexcept;
  Work add(std::span<const Point> points);

  std::mutex mutex_;
  std::map<StreamName, Timeline> streams_;
  std::uint32_t numbers_ = 0;
  Clock host_;
  // The members below grow with every launch, by some 30 bytes.
  std::vector<Point> points_;
  std::vector<Points> works_{1};  // by Work
  std::map<std::string, std::uint32_t> numbers_of_names_;
  std::vector<std::string> names_;
  std::map<std::pair<Work, Work>, Work> joined_;
  ForkHandler fork_handler_{*this, ForkHandler::Order::Inner};  // locks of arenas and streams are taken before this one
};

/// Checks one launch or copy against earlier accesses to its memory. These take turns: it lives while the work runs.
class StreamOrder {
 public:
  StreamOrder(const StreamImpl& stream, std::string what);

  Work work() const noexcept { return issued_.work; }
  bool is_after(Work before);
  /// The work that a byte's next user must come after if this one follows `before` or runs beside it.
  Work after(Work before) { return is_after(before) ? work() : joined(before); }
  /// "kernel f on the default stream of cuda:0: no event or wait makes stream 0x1234 of cuda:0 wait for it".
  std::string why_not_after(Work before) const;

 private:
  Work joined(Work before);

  std::unique_lock<std::mutex> turn_;
  std::string where_;
  HappensBefore::Issued issued_;
  Work known_before_ = Work::None;  // the most recent query
  std::pair<Work, Work> known_joined_{};
};

}  // namespace sinter::inline v1::runtime::vgpu
