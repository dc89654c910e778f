#include "recorder.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <sinter/runtime/error.hpp>
#include "../collective/processes.hpp"
#include "../environment.hpp"
#include "../per_thread.hpp"
#include "../text.hpp"
#include "../write.hpp"
#include "nvtx.hpp"
#include "span.hpp"

namespace sinter::inline v1::runtime {
namespace {

constexpr std::int64_t write_interval = 1'000'000'000;  // ns
constexpr std::uint32_t first_track = 1u << 24;         // above all thread ids

/// Absolute, so that the child of a fork writes beside its parent even from another working directory.
std::string trace_name() {
  const std::string given = environment("SINTER_TRACE");
  std::error_code problem;
  const std::filesystem::path absolute = std::filesystem::absolute(given, problem);
  return given.empty() || problem ? given : absolute.string();
}

std::string name_of_process(std::optional<int> number) {
  return number ? fmt::format("{}, process {}", program_invocation_short_name, *number) : program_invocation_short_name;
}

}  // namespace

ThreadRecords::ThreadRecords() {
  records_.resize(capacity, TraceRecord(TraceCategory::Plan, {}));
  begin_anew();
  Recorder::get().add(*this);
}

ThreadRecords::~ThreadRecords() { Recorder::get().remove(*this); }

/// Also in the child of a fork: the parent writes the events before the fork.
void ThreadRecords::begin_anew() noexcept {
  taken_.store(put_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  thread_ = ::gettid();
  ::pthread_getname_np(::pthread_self(), name_.data(), name_.size());
  is_named_ = false;
  process_.store(generation(), std::memory_order_release);
}

bool ThreadRecords::put(const TraceRecord& record) noexcept {
  if (process_.load(std::memory_order_relaxed) != generation()) [[unlikely]]
    begin_anew();
  const std::size_t n = put_.load(std::memory_order_relaxed);
  if (n - taken_.load(std::memory_order_acquire) == capacity) return false;
  records_[n % capacity] = record;
  put_.store(n + 1, std::memory_order_release);
  return true;
}

void ThreadRecords::take(TraceText& text) {
  if (process_.load(std::memory_order_acquire) != generation()) return;
  const std::size_t end = put_.load(std::memory_order_acquire);
  if (end == taken_.load(std::memory_order_relaxed)) return;
  if (!is_named_) {
    const bool is_main = thread_ == ::getpid();
    text.add_name("thread_name", thread_, is_main ? "main" : fmt::format("{} {}", name_.data(), thread_));
    is_named_ = true;
  }
  for (std::size_t n = taken_.load(std::memory_order_relaxed); n != end; ++n) {
    const TraceRecord& r = records_[n % capacity];
    text.add(r, r.track ? r.track : thread_);
  }
  taken_.store(end, std::memory_order_release);
}

Recorder& Recorder::get() {
  static constinit NoDestructor<Recorder> only;
  return only.get([] { return new Recorder; });
}

Recorder::Recorder() : name_(trace_name()) {
  last_write_.store(trace_clock(), std::memory_order_relaxed);
  if (!name_.empty()) open();
  unsigned sinks = nvtx::tool() ? static_cast<unsigned>(TraceSink::Nvtx) : 0;
  if (file_) {
    sinks |= static_cast<unsigned>(TraceSink::File);
    std::atexit(&Recorder::at_exit);
  }
  detail::trace_sinks.store(sinks, std::memory_order_relaxed);
}

/// Later events, from destructors, are written at once.
void Recorder::at_exit() noexcept {
  Recorder& recorder = get();
  recorder.is_ending_.store(true, std::memory_order_relaxed);
  recorder.flush();
}

void Recorder::open() {
  const bool is_child = generation() > 0;
  process_ = generation() + 1;
  file_.reset();  // the parent's
  if (is_stopped_) return;
  const std::optional<int> number = launched_processes() > 1 ? launched_process() : std::nullopt;
  const std::string path = trace_path(name_, ::getpid(), number, is_child);
  try {
    file_ = std::make_unique<TraceFile>(path);
    TraceText text(::getpid());
    text.add_name("process_name", ::getpid(), name_of_process(number));
    file_->add(text);
  } catch (const std::exception& e) {
    stop(path, e.what(), "nothing is traced");
  }
}

void Recorder::stop(const std::string& path, std::string_view problem, std::string_view then) noexcept try {
  is_stopped_ = true;
  if (detail::trace_sinks.load(std::memory_order_relaxed) != detail::trace_not_read)  // else the constructor sets them
    detail::trace_sinks.fetch_and(~static_cast<unsigned>(TraceSink::File), std::memory_order_relaxed);
  const std::string line =
      fmt::format("sinter: the trace {} (SINTER_TRACE) cannot be written: {}; {}\n", quote(path), problem, then);
  write_some(STDERR_FILENO, std::as_bytes(std::span(line)));
  file_.reset();
} catch (...) {  // out of memory
  file_.reset();
}

void Recorder::add(const TraceRecord& record) noexcept try {
  ThreadRecords& mine = per_thread<ThreadRecords>();
  if (!mine.put(record)) {
    flush();
    mine.put(record);
  }
  std::int64_t last = last_write_.load(std::memory_order_relaxed);
  const bool is_time = record.end - last > write_interval &&
                       last_write_.compare_exchange_strong(last, record.end, std::memory_order_relaxed);
  if (is_time || is_ending_.load(std::memory_order_relaxed)) flush();
} catch (...) {  // out of memory: the event is lost
}

std::uint32_t Recorder::new_track(std::string name) {
  const ForkSafeLock lock(mutex_);
  tracks_.push_back({std::move(name), 0});
  return first_track + static_cast<std::uint32_t>(tracks_.size() - 1);
}

void Recorder::flush() noexcept try {
  const ForkSafeLock lock(mutex_, std::nothrow);
  if (process_ != generation() + 1) open();
  if (file_) write_all();
} catch (...) {  // out of memory
}

void Recorder::write_all() {
  try {
    TraceText names(::getpid());
    for (std::size_t i = 0; i < tracks_.size(); ++i)
      if (std::exchange(tracks_[i].named_in, process_) != process_)
        names.add_name("thread_name", first_track + static_cast<std::int64_t>(i), tracks_[i].name);
    file_->add(names);
    for (ThreadRecords* const thread : threads_) {
      TraceText text(::getpid());
      thread->take(text);
      file_->add(text);
    }
  } catch (const std::exception& e) {
    stop(file_->path(), e.what(), "the trace ends here");
  }
}

void Recorder::add(ThreadRecords& thread) {
  const ForkSafeLock lock(mutex_);
  threads_.push_back(&thread);
}

void Recorder::remove(ThreadRecords& thread) noexcept {
  flush();
  const ForkSafeLock lock(mutex_, std::nothrow);
  std::erase(threads_, &thread);
}

}  // namespace sinter::inline v1::runtime
