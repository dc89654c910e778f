// The trace file, in Chrome's trace event format: a JSON array of events.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "record.hpp"

namespace sinter::inline v1::runtime {

/// The path of a process's trace file. In `name`, `%p` is replaced by the process id and `%r` by the process's number
/// under mpirun (MPI's rank). If these do not make the path unique, `.NUMBER` is appended for a process of mpirun, and
/// `.PID` for the child of a fork.
std::string trace_path(std::string_view name, pid_t process, std::optional<int> number, bool is_child);

/// The text of consecutive events, to be added to a file.
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

/// After each add() the file is a complete array, even if the process then crashes. If another process is writing its
/// trace to that file, `.PID` is appended to the name.
class TraceFile {
 public:
  /// Creates or truncates the file. Throws Error with the reason why it cannot be written.
  explicit TraceFile(std::string path);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile();

  const std::string& path() const noexcept { return path_; }
  /// Throws Error; earlier events stay in the file.
  void add(const TraceText& events);

 private:
  void open();

  std::string path_;
  int file_ = -1;
  off_t end_ = 0;  // the end of the last event
};

}  // namespace sinter::inline v1::runtime
