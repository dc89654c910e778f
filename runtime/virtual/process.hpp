// Running another program and reading what it prints.
#pragma once
#include <string>
#include <vector>

namespace sinter::inline v1::runtime::vgpu {

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

/// Runs `arguments` (the program is looked up in PATH) with no input and waits for it. Throws bad_alloc alone.
ProcessResult run_process(const std::vector<std::string>& arguments);

/// Whether an error says that the system lacks something now: it may work the next time.
bool is_lack(int error) noexcept;

/// The file that PATH finds for a program, or the program itself where it names a folder; empty when there is none.
/// Then `error` is why a file could not be looked at, 0 where there is none that could be run.
std::string find_program(const std::string& program, int& error);

/// Throw Error with the path and the reason.
void write_file(const std::string& path, const std::string& content);
std::string read_file(const std::string& path);

}  // namespace sinter::inline v1::runtime::vgpu
