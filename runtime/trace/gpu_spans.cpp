#include "gpu_spans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "../fork.hpp"
#include "recorder.hpp"
#include "span.hpp"

namespace sinter::inline v1::runtime {
namespace {

constexpr std::size_t read_every = 64;               // spans
constexpr std::int64_t clock_range = 1'000'000'000;  // ns; up to here a float in milliseconds is accurate to 60 ns
constexpr std::chrono::seconds max_at_exit{1};

constinit std::mutex known_mutex;
constinit NoDestructor<std::vector<GpuSpans*>> known_spans;

}  // namespace

GpuSpans::GpuSpans(Streams& streams) : streams_(streams), process_(generation()) {
  if (traces_to(TraceSink::File)) try {
      start_clock();
      has_clock_ = true;
    } catch (...) {  // the device's first work reports its errors
      clock_ = EventRef();
    }
  const ForkSafeLock lock(known_mutex);
  known_spans.get().push_back(this);
  if (known_spans.get().size() == 1) std::atexit(&GpuSpans::at_exit);
}

GpuSpans::~GpuSpans() {
  const ForkSafeLock lock(known_mutex, std::nothrow);
  std::erase(known_spans.get(), this);
}

/// Polls: no other wait returns within a microsecond of the event.
void GpuSpans::start_clock() {
  clock_ = streams_.record(streams_.standard(), true);
  while (!streams_.is_past(*clock_)) std::this_thread::yield();
  clock_time_ = trace_clock();
}

EventRef GpuSpans::begin() noexcept try {
  if (!has_clock_ || !traces_to(TraceSink::File)) return {};
  StreamImpl& stream = streams_.current();
  if (stream.may_capture.load(std::memory_order_relaxed) && streams_.is_capturing(stream)) return {};
  return streams_.record(stream, true);
} catch (...) {
  return {};
}

void GpuSpans::end(EventRef begin, const TraceRecord& work) noexcept try {
  if (!begin) return;
  StreamImpl& stream = streams_.current();
  EventRef end = streams_.record(stream, true);
  const ForkSafeLock lock(mutex_);
  forget_parent();
  if (pending_.size() >= capacity || pending_.size() % read_every == read_every - 1) read_front();
  if (pending_.size() < capacity) pending_.push_back({std::move(begin), std::move(end), &stream, work});
} catch (...) {  // no memory, or the device is lost
}

void GpuSpans::read() noexcept { static_cast<void>(is_all_read()); }

bool GpuSpans::is_all_read() noexcept try {
  const ForkSafeLock lock(mutex_);
  forget_parent();
  read_front();
  return pending_.empty();
} catch (...) {  // the device is lost: the times of its work are unknown
  return true;
}

/// Runs before the driver's exit handler. The Recorder's runs after it, since the trace starts before the driver.
void GpuSpans::at_exit() noexcept {
  const auto limit = std::chrono::steady_clock::now() + max_at_exit;
  const ForkSafeLock lock(known_mutex, std::nothrow);
  for (GpuSpans* const spans : known_spans.get())
    while (!spans->is_all_read() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
}

/// In the child of a fork: the pending events belong to the parent's driver.
void GpuSpans::forget_parent() noexcept {
  if (std::exchange(process_, generation()) != generation()) pending_.clear();
}

/// In the order of issue: finished work waits here for earlier work of other streams.
void GpuSpans::read_front() {
  while (!pending_.empty() && is_done(pending_.front())) {
    Pending done = std::move(pending_.front());
    pending_.pop_front();
    const std::int64_t begin = clock_time_ + after(clock_, done.begin);
    const std::int64_t end = begin + after(done.begin, done.end);
    Line& line = line_of(*done.stream);
    // Threads that share a stream may issue work between another thread's work and its events.
    done.work.begin = std::max(begin, line.end);
    done.work.end = line.end = std::max(end, done.work.begin);
    done.work.track = line.track;
    Recorder::get().add(done.work);
    if (end - clock_time_ > clock_range) clock_ = std::move(done.end), clock_time_ = end;
  }
}

bool GpuSpans::is_done(const Pending& work) {
  try {
    return streams_.is_past(*work.end);
  } catch (...) {  // the device is lost: these times will never be known
    pending_.clear();
    throw;
  }
}

/// The time between two events in nanoseconds.
std::int64_t GpuSpans::after(const EventRef& from, const EventRef& to) const {
  return static_cast<std::int64_t>(1e6 * static_cast<double>(streams_.elapsed_ms(*from, *to)));
}

GpuSpans::Line& GpuSpans::line_of(const StreamImpl& stream) {
  const auto known = lines_.find(&stream);
  if (known != lines_.end()) return known->second;
  const std::string device = to_string(streams_.device());
  const std::string name = stream.kind == StreamImpl::Kind::Default
                               ? fmt::format("{}, default stream", device)
                               : fmt::format("{}, stream {}", device, stream.native);
  return lines_.emplace(&stream, Line{Recorder::get().new_track(name), 0}).first->second;
}

}  // namespace sinter::inline v1::runtime
