// When a GPU did what it was given, by the times of events around it.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>

#include <sinter/runtime/stream_impl.hpp>
#include "../streams.hpp"
#include "record.hpp"

namespace sinter::inline v1::runtime {

/// Of one device. Never makes the host or a stream wait, but for the device's first event, which relates its clock to
/// the host's. Thread-safe.
class GpuSpans {
 public:
  /// Work that waits for its times; more is left out until some is done.
  static constexpr std::size_t capacity = 4096;

  explicit GpuSpans(Streams& streams);
  GpuSpans(const GpuSpans&) = delete;
  GpuSpans& operator=(const GpuSpans&) = delete;
  ~GpuSpans();

  /// Before and after work on this thread's stream. Null, and then no span, while a graph captures it: what is captured
  /// runs when the graph does, where nobody is asked.
  EventRef begin() noexcept;
  void end(EventRef begin, const TraceRecord& work) noexcept;
  /// Hands over what is done by now. At the end of the process it is called for what is done within a second.
  void read() noexcept;

 private:
  struct Pending {
    EventRef begin, end;
    const StreamImpl* stream;
    TraceRecord work;
  };
  /// A stream's line in the trace.
  struct Line {
    std::uint32_t track;
    std::int64_t end;  // of the last span there
  };
  static void at_exit() noexcept;
  bool is_all_read() noexcept;
  // Under the lock:
  void read_front();
  bool is_done(const Pending& work);
  Line& line_of(const StreamImpl& stream);
  std::int64_t after(const EventRef& from, const EventRef& to) const;
  void start_clock();
  void forget_parent() noexcept;

  Streams& streams_;
  std::mutex mutex_;
  unsigned process_;
  std::deque<Pending> pending_;
  std::map<const StreamImpl*, Line> lines_;
  bool has_clock_ = false;       // set by the constructor alone
  EventRef clock_;               // an event, and when it was
  std::int64_t clock_time_ = 0;  // of trace_clock()
};

/// Work that this thread gives its stream until the end of the scope.
class GpuSpan {
 public:
  GpuSpan(GpuSpans& spans, const TraceRecord& work) noexcept : spans_(spans), work_(work), begin_(spans.begin()) {}
  GpuSpan(const GpuSpan&) = delete;
  GpuSpan& operator=(const GpuSpan&) = delete;
  ~GpuSpan() { spans_.end(std::move(begin_), work_); }

 private:
  GpuSpans& spans_;
  const TraceRecord& work_;
  EventRef begin_;
};

}  // namespace sinter::inline v1::runtime
