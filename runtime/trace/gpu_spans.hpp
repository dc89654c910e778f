// Start and end times of work on a GPU, from events recorded around it.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>

#include <sinter/runtime/stream_impl.hpp>
#include "../streams.hpp"
#include "record.hpp"

namespace sinter::inline v1::runtime {

/// The spans of one device. Never makes the host or a stream wait, except for the device's first event, which relates
/// its clock to the host's. Thread-safe.
class GpuSpans {
 public:
  /// The maximum number of spans whose work is not done; the trace omits further ones until some are.
  static constexpr std::size_t capacity = 4096;

  explicit GpuSpans(Streams& streams);
  GpuSpans(const GpuSpans&) = delete;
  GpuSpans& operator=(const GpuSpans&) = delete;
  ~GpuSpans();

  /// Call these before and after issuing work to this thread's stream. begin() returns null, and there is no span,
  /// while the stream captures a graph: its work runs at each launch of the graph, which is not traced.
  EventRef begin() noexcept;
  void end(EventRef begin, const TraceRecord& work) noexcept;
  /// Passes finished spans on to the Recorder. At the end of the process it is repeated for up to a second.
  void read() noexcept;

 private:
  struct Pending {
    EventRef begin, end;
    const StreamImpl* stream;
    TraceRecord work;
  };
  /// A stream's track in the trace.
  struct Line {
    std::uint32_t track;
    std::int64_t end;  // of its last span
  };
  static void at_exit() noexcept;
  bool is_all_read() noexcept;
  // Call these with the lock held:
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
  bool has_clock_ = false;       // set only by the constructor
  EventRef clock_;               // an event whose time on the host is known
  std::int64_t clock_time_ = 0;  // that time, by trace_clock()
};

/// Traces the work that this thread issues to its stream until the end of the scope.
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
