// Collects the events of all threads and writes them to the trace file.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "../fork.hpp"
#include "trace_file.hpp"

namespace sinter::inline v1::runtime {

/// A thread's ring of events. Only that thread calls put(), without a lock; take() needs the Recorder's lock.
class ThreadRecords {
 public:
  static constexpr std::size_t capacity = 256;  // about 96 kB

  ThreadRecords();
  ThreadRecords(const ThreadRecords&) = delete;
  ThreadRecords& operator=(const ThreadRecords&) = delete;
  /// Writes the remaining events.
  ~ThreadRecords();

  /// False if the ring is full.
  bool put(const TraceRecord& record) noexcept;
  /// Moves the events to `text`, the first ones after the thread's name. None if the thread is the parent's of a fork.
  void take(TraceText& text);

 private:
  void begin_anew() noexcept;

  std::vector<TraceRecord> records_;
  std::atomic<std::size_t> put_{0}, taken_{0};
  std::atomic<unsigned> process_{0};  // generation() of the process that put the events
  std::int64_t thread_ = 0;
  std::array<char, 16> name_{};  // the system's name of the thread
  bool is_named_ = false;
};

/// The process's recorder: writes events to the file that SINTER_TRACE names. Thread-safe.
class Recorder {
 public:
  /// The first call reads the environment and sets detail::trace_sinks.
  static Recorder& get();

  /// Writes to the file at most once a second, unless a thread's ring is full.
  void add(const TraceRecord& record) noexcept;
  /// A new track, for events that belong to no thread.
  std::uint32_t new_track(std::string name);
  /// Writes the events of all threads.
  void flush() noexcept;

  void add(ThreadRecords& thread);
  void remove(ThreadRecords& thread) noexcept;

 private:
  struct Track {
    std::string name;
    unsigned named_in;  // the process, as in process_, whose file has the name
  };

  Recorder();
  static void at_exit() noexcept;
  // Call these with the lock held:
  void open();
  void write_all();
  void stop(const std::string& path, std::string_view problem, std::string_view then) noexcept;

  const std::string name_;  // SINTER_TRACE
  std::atomic<std::int64_t> last_write_{0};
  std::atomic<bool> is_ending_{false};
  std::mutex mutex_;
  // Protected by the lock:
  std::unique_ptr<TraceFile> file_;
  unsigned process_ = 0;  // the process that opened the file: its generation() + 1
  bool is_stopped_ = false;
  std::vector<ThreadRecords*> threads_;
  std::vector<Track> tracks_;
};

}  // namespace sinter::inline v1::runtime
