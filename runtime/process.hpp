// Running another program and reading what it prints.
#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::inline v1::runtime {

struct ProcessResult {
  /// The program ran, and a process that ignores SIGCHLD, or waits for all its children, does not learn how it ended.
  static constexpr int unknown = -2;
  int status = -1;     // exit status; 128 + signal; -1 when it did not start
  int error = 0;       // why it did not
  std::string output;  // stdout and stderr

  bool failed() const noexcept { return status != 0 && status != unknown; }
  /// "exit status 1", "it did not start: No such file or directory".
  std::string ending() const;
};

struct ProcessOptions {
  std::string_view input = {};         // stdin
  bool merges_errors = true;           // stderr goes to the output; else nowhere
  std::chrono::milliseconds limit{0};  // past it the program is killed; 0: none
};

/// Runs `arguments` (the program is looked up in PATH) and waits for it. Throws bad_alloc alone.
ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

/// Whether an error says that the system lacks something now: it may work the next time.
bool is_lack(int error) noexcept;

/// The file that PATH finds for a program, or the program itself where it names a folder; empty when there is none.
/// Then `error` is why a file could not be looked at, 0 where there is none that could be run.
std::string find_program(const std::string& program, int& error);

}  // namespace sinter::inline v1::runtime
