#include "host_compiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <sstream>

#include <sinter/runtime/error.hpp>
#include "environment.hpp"
#include "fork.hpp"
#include "large_stack.hpp"
#include "process.hpp"
#include "temporary_folder.hpp"
#include "whole_file.hpp"
#include "write.hpp"

namespace sinter::inline v1::runtime {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::istringstream words(text);
  words.exceptions(std::ios::badbit);  // a lack of memory must not look like the end of the text
  std::vector<std::string> result;
  for (std::string w; words >> w;) result.push_back(w);
  return result;
}

/// A program's file, size and time: versions alone do not distinguish two builds of a compiler.
std::string file_identity(const std::string& program) {
  struct stat s{};
  if (::stat(program.c_str(), &s) != 0) return program;
  return fmt::format("{} {} {} {}", program, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string missing(const std::string& chosen, int error) {
  const char* path = trusted_getenv("PATH");
  return fmt::format("none was found{}. Searched: {}{}. Install one (apt install g++) or set SINTER_HOST_CXX to one.",
                     error ? fmt::format(" ({})", std::strerror(error)) : "",
                     chosen.empty() ? "c++, g++, clang++ in PATH: " : "SINTER_HOST_CXX=",
                     !chosen.empty() ? chosen
                     : path          ? path
                                     : "(not set)");
}

/// The first lines of a program's output, for an error.
std::string printed(const ProcessResult& result) {
  if (result.error) return "";  // it did not run, so it printed nothing
  constexpr std::size_t max_lines = 5, max_characters = 200;
  std::string lines;
  std::istringstream text(result.output);
  text.exceptions(std::ios::badbit);
  std::size_t n = 0;
  for (std::string line; std::getline(text, line) && n < max_lines; ++n)
    lines += "\n  " + line.substr(0, max_characters);
  return n == 0 ? "It printed nothing. " : fmt::format("It printed:{}\n", lines);
}

std::string failed(const std::string& command, const ProcessResult& result) {
  return fmt::format("`{}` failed ({}). {}Repair it, or set SINTER_HOST_CXX to another one.", command, result.ending(),
                     printed(result));
}

std::string made_nothing(const std::string& command, const ProcessResult& result) {
  return fmt::format("`{}` wrote no output file ({}). {}Set SINTER_HOST_CXX to a C++ compiler.", command,
                     result.ending(), printed(result));
}

DeviceError unusable(std::string_view needs, const std::string& problem) {
  return DeviceError(fmt::format("{}, and {}", needs, problem));
}

}  // namespace

const HostCompiler& HostCompiler::instance() {
  static constinit NoDestructor<const HostCompiler> compiler;
  return compiler.get([] { return new HostCompiler; });
}

HostCompiler::HostCompiler() {
  const std::string chosen = environment("SINTER_HOST_CXX");
  const std::vector<std::string> candidates =
      chosen.empty() ? std::vector<std::string>{"c++", "g++", "clang++"} : std::vector<std::string>{chosen};
  int problem_with_file = 0;
  for (const std::string& candidate : candidates) {
    std::vector<std::string> command = split(candidate);
    int error = 0;
    if (command.empty() || find_program(command[0], error).empty()) {
      if (error) problem_with_file = error;
      continue;
    }
    command.emplace_back("--version");
    const ProcessResult version = run_process(command);
    if (version.error && is_resource_shortage(version.error))  // not cached: the next query tries again
      throw unusable("Kernels are compiled by the host's C++ compiler",
                     failed(fmt::format("{}", fmt::join(command, " ")), version));
    if (version.failed()) {
      if (problem_.empty()) problem_ = failed(fmt::format("{}", fmt::join(command, " ")), version);
      continue;
    }
    command.pop_back();
    take(std::move(command), version.output);
    return;
  }
  if (problem_.empty()) problem_ = missing(chosen, problem_with_file);
  if (problem_with_file) throw unusable("Kernels are compiled by the host's C++ compiler", problem_);
  version_ = identity_ = "(no compiler)";
}

void HostCompiler::take(std::vector<std::string> command, const std::string& version) {
  command_ = std::move(command);
  int error = 0;
  version_ = first_line(version);
  identity_ = fmt::format("{}\n{}\n{}", this->command(), file_identity(find_program(command_[0], error)), version);
}

std::string HostCompiler::command() const { return fmt::format("{}", fmt::join(command_, " ")); }

std::string HostCompiler::compile(const HostSource& source) const {
  if (command_.empty()) throw unusable(source.needs, problem_);
  const TemporaryFolder folder;
  const std::string input = folder.file("kernel.cpp"), output = folder.file("kernel.so");
  write_whole_file(input, source.unit);
  std::vector<std::string> words = command_;
  std::ranges::copy(source.flags, std::back_inserter(words));
  const bool is_gcc = identity_.find("Free Software Foundation") != std::string::npos;  // whatever its name is
  if (is_gcc) std::ranges::copy(source.gcc_flags, std::back_inserter(words));
  words.insert(words.end(), {input, "-o", output});
  // The end of the process does not wait for what nobody waits for.
  const std::atomic<bool>* const cancelled = is_queued_work() ? &is_process_ending() : nullptr;
  const ProcessResult result = run_process(words, {.cancelled = cancelled});
  if (result.error) throw unusable(source.needs, failed(command(), result));
  if (cancelled != nullptr && *cancelled) throw Error("The process ended before the host's compiler did.");
  const bool made = ::access(output.c_str(), R_OK) == 0 || errno != ENOENT;  // other errors are reported by reading it
  if (!made && result.status == 0) throw unusable(source.needs, made_nothing(command(), result));
  if (result.failed() || !made)  // the exit status may be unknown, and a failed compiler leaves no file
    throw CompileError(fmt::format("The host's compiler rejected kernel {} ({}, {}{}).", source.name, command(),
                                   result.ending(), under_file_limit()),
                       result.output, std::string(source.text));
  return read_whole_file(output);
}

}  // namespace sinter::inline v1::runtime
