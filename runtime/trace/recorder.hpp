// What threads did, from their own memory to the file of the trace.
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

/// A thread's last events. It alone puts, without a lock; one thread at a time, the Recorder's lock held, takes.
class ThreadRecords {
 public:
  static constexpr std::size_t capacity = 256;  // some 96 kB

  ThreadRecords();
  ThreadRecords(const ThreadRecords&) = delete;
  ThreadRecords& operator=(const ThreadRecords&) = delete;
  /// Writes what is left.
  ~ThreadRecords();

  /// False where there is no room.
  bool put(const TraceRecord& record) noexcept;
  /// Adds what there is, and the thread's name before the first of it. Nothing of threads of a parent.
  void take(TraceText& text);

 private:
  void begin_anew() noexcept;

  std::vector<TraceRecord> records_;
  std::atomic<std::size_t> put_{0}, taken_{0};
  std::atomic<unsigned> process_{0};  // generation() of who put
  std::int64_t thread_ = 0;
  std::array<char, 16> name_{};  // as the system knows it
  bool is_named_ = false;
};

/// Of the process: where SINTER_TRACE names a file, and for who profiles by NVTX. Thread-safe.
class Recorder {
 public:
  /// Reads the environment when it is first called, and sets detail::trace_sinks.
  static Recorder& get();

  /// Writes at most every second, where no thread runs out of room.
  void add(const TraceRecord& record) noexcept;
  /// A line of its own for events of no thread.
  std::uint32_t new_track(std::string name);
  /// Writes what all threads have.
  void flush() noexcept;

  void add(ThreadRecords& thread);
  void remove(ThreadRecords& thread) noexcept;

 private:
  struct Track {
    std::string name;
    unsigned named_in;  // whose file has it, as process_
  };

  Recorder();
  static void at_exit() noexcept;
  // Under the lock:
  void open();
  void write_all();
  void stop(const std::string& path, std::string_view problem, std::string_view then) noexcept;

  const std::string name_;  // SINTER_TRACE
  std::atomic<std::int64_t> last_write_{0};
  std::atomic<bool> is_ending_{false};
  std::mutex mutex_;
  // Under the lock:
  std::unique_ptr<TraceFile> file_;
  unsigned process_ = 0;  // whose file it is: generation() + 1
  bool is_stopped_ = false;
  std::vector<ThreadRecords*> threads_;
  std::vector<Track> tracks_;
};

}  // namespace sinter::inline v1::runtime
