// Running another program and reading its output.
#pragma once
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::inline v1::runtime {

struct ProcessResult {
  /// The program ran, but its status is unknown: this process ignores SIGCHLD or waits for all its children.
  static constexpr int unknown = -2;
  int status = -1;     // exit status; 128 + signal; -1 if it did not start
  int error = 0;       // why it did not start
  std::string output;  // stdout and stderr

  bool failed() const noexcept { return status != 0 && status != unknown; }
  /// "exit status 1", "it did not start: No such file or directory".
  std::string ending() const;
};

struct ProcessOptions {
  std::string_view input = {};                   // stdin
  bool merges_errors = true;                     // stderr goes to the output; otherwise it is discarded
  std::chrono::milliseconds limit{0};            // after it the program is killed; 0: no limit
  const std::atomic<bool>* cancelled = nullptr;  // once it is true, the program and what it started are terminated
};

/// Runs `arguments` (the program is looked up in PATH) and waits for it. Throws only bad_alloc.
ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

/// Whether an error means that the system temporarily lacks a resource, so that a retry may succeed.
bool is_resource_shortage(int error) noexcept;

/// The file that PATH gives for a program, or the program itself if it contains a slash; empty if there is none. In
/// that case `error` is why a file could not be examined, or 0 if no executable file was found.
std::string find_program(const std::string& program, int& error);

}  // namespace sinter::inline v1::runtime
