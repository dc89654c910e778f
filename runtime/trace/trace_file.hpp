// The file of a trace: Chrome's trace event format, a JSON array of events.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "record.hpp"

namespace sinter::inline v1::runtime {

/// A process's file: `%p` in the name stands for its number, `%r` for its rank. Where neither tells processes apart,
/// `.RANK` is added for those of mpirun, and `.PID` for the child of a fork.
std::string trace_path(std::string_view name, pid_t process, std::optional<int> rank, bool is_child);

/// Events as text, one after another, to be added to a file.
class TraceText {
 public:
  explicit TraceText(pid_t process) : process_(process) {}
  void add(const TraceRecord& record, std::int64_t thread);
  /// `what` is "process_name" or "thread_name".
  void add_name(std::string_view what, std::int64_t thread, std::string_view name);

  const std::string& text() const noexcept { return text_; }

 private:
  pid_t process_;
  std::string text_;
};

/// After each add() it is a whole array, whatever happens to the process then. A file that another process has open as
/// its trace is left alone: `.PID` is added to the name.
class TraceFile {
 public:
  /// Makes the file, or empties it. Throws Error, which says why it cannot be written.
  explicit TraceFile(std::string path);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile();

  const std::string& path() const noexcept { return path_; }
  /// Throws Error; what was added before stays.
  void add(const TraceText& events);

 private:
  void open();

  std::string path_;
  int file_ = -1;
  off_t end_ = 0;  // of the last event
};

}  // namespace sinter::inline v1::runtime
