// Running another program and reading what it prints.
#pragma once
#include <string>
#include <vector>

namespace sinter::inline v1::runtime::vgpu {

struct ProcessResult {
  /// The program ran, and a process that ignores SIGCHLD, or waits for all its children, does not learn how it ended.
  static constexpr int unknown = -2;
  int status = -1;     // exit status; 128 + signal; -1 when it did not start
  std::string output;  // stdout and stderr

  bool failed() const noexcept { return status != 0 && status != unknown; }
  /// "exit status 1", "it did not start".
  std::string ending() const;
};

/// Runs `arguments` (the program is looked up in PATH) with no input and waits for it. Never throws.
ProcessResult run_process(const std::vector<std::string>& arguments) noexcept;

/// The file that PATH finds for a program, or the program itself where it names a folder; empty when there is none.
std::string find_program(const std::string& program);

/// Throw Error with the path and the reason.
void write_file(const std::string& path, const std::string& content);
std::string read_file(const std::string& path);

}  // namespace sinter::inline v1::runtime::vgpu
