#include "process.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include <runtime/large_stack.hpp>

#include "../scratch.hpp"
#include "blocks.hpp"

namespace sinter::faults {
namespace {

namespace fs = std::filesystem;

constexpr unsigned patience_s = 60;

/// A compiler that keeps what it has made: scenarios compile the same few kernels over and over.
constexpr const char* compiler = R"(#!/bin/sh
if [ "$1" = --version ]; then
  [ -f "$0.version" ] || c++ --version > "$0.version"
  exec cat "$0.version"
fi
for word; do
  case $word in *.cpp) in=$word;; esac
  out=$word
done
kept=$0.$(sha256sum < "$in" | cut -c1-64)
[ -f "$kept" ] || { c++ "$@" && cp "$out" "$kept.$$" && mv "$kept.$$" "$kept"; } || exit 1
cp "$kept" "$out"
)";

/// What the child tells its parent.
struct Report {
  Ending ending;
  char message[4000];
  Remains remains;
};

long count_open_files() { return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()); }

/// What somebody began to write and nobody removed.
std::string leftovers() {
  for (const auto& file : fs::recursive_directory_iterator(".")) {
    const std::string name = file.path().filename();
    if (name.ends_with(".tmp") || name.starts_with("sinter-compile-")) return file.path();
  }
  return "";
}

/// Whether the text says what happened.
bool names_cause(const std::string& text, Kind kind) {
  return std::ranges::any_of(causes(kind),
                             [&](const std::string& cause) { return text.find(cause) != std::string::npos; });
}

/// How a run ended, and with which message.
struct Attempt {
  Ending ending;
  std::string message;
};
Attempt attempt(void (*run)()) {
  try {
    run();
    return {Ending::WentOn, ""};
  } catch (const Wrong& wrong) {
    return {Ending::Finding, "wrong: " + wrong.what};
  } catch (const std::bad_alloc&) {
    return {Ending::Error, "std::bad_alloc"};
  } catch (const std::exception& e) {
    return {Ending::Error, e.what()};
  }
}

/// All that is done in the child. Gives the first thing that is wrong.
Attempt try_out(const Scenario& scenario, Fault fault, Trace& trace) {
  if (scenario.prepare) scenario.prepare();
  await(fault, trace);
  const Attempt first = attempt(scenario.run);
  stop();
  runtime::wait_for_large_stacks();  // what others than this thread were at
  if (first.ending == Ending::Finding) return first;
  if (first.ending == Ending::Error) {
    if (!trace.happened) return {Ending::Finding, "an error without a fault: " + first.message};
    if (!names_cause(first.message, fault.kind))
      return {Ending::Finding, "an error that does not name the cause: " + first.message};
  }
  if (const std::string file = leftovers(); !file.empty()) return {Ending::Finding, "a file is left: " + file};
  if (scenario.look)
    if (const Attempt seen = attempt(scenario.look); seen.ending != Ending::WentOn)
      return {Ending::Finding, "on disk: " + seen.message};
  for (const char* when : {"afterwards", "afterwards again"})
    if (const Attempt again = attempt(scenario.run); again.ending != Ending::WentOn)
      return {Ending::Finding, fmt::format("{}: {} (first: {})", when, again.message, first.message)};
  return first;
}

/// What is wrong with what remains; empty where nothing is.
std::string leak(const Remains& remains, const Remains& usual, const Attempt& result) {
  const std::string after = result.message.empty() ? "" : " after: " + result.message;
  if (remains.files > usual.files) return fmt::format("{} files stay open{}", remains.files - usual.files, after);
  if (remains.blocks <= usual.blocks) return "";
  std::string lost = lost_blocks();
  // A thread that ends may have had them.
  for (int i = 0; i < 5 && !lost.empty(); ++i) ::usleep(20'000), lost = lost_blocks();
  return lost.empty() ? "" : fmt::format("memory leaks{}{}", after, lost);
}

[[noreturn]] void live_as(const Scenario& scenario, Fault fault, Trace& trace, const Remains& usual, Report& report) {
  const long blocks = live_blocks(), files = count_open_files();
  Attempt result{Ending::Finding, ""};
  try {
    result = try_out(scenario, fault, trace);
    report.remains = {live_blocks() - blocks, count_open_files() - files};
    if (result.ending != Ending::Finding)
      if (const std::string problem = leak(report.remains, usual, result); !problem.empty())
        result = {Ending::Finding, problem};
  } catch (const Wrong& wrong) {
    result.message = "not prepared: " + wrong.what;
  } catch (const std::exception& e) {
    result.message = fmt::format("not prepared: {}", e.what());
  }
  std::strncpy(report.message, result.message.c_str(), sizeof report.message - 1);
  report.ending = result.ending;
  std::_Exit(0);
}

/// The parent prints what the child wrote.
void print_stack(int signal) {
  void* frames[40];
  ::backtrace_symbols_fd(frames, ::backtrace(frames, 40), 2);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return fmt::format("hangs for {} s", patience_s);
  return WIFSIGNALED(status) ? fmt::format("ended by {}", strsignal(WTERMSIG(status)))
                             : fmt::format("ended with exit status {}", WEXITSTATUS(status));
}

}  // namespace

Workplace::Workplace() {
  std::string path = (fs::temp_directory_path() / "sinter-faults-XXXXXX").string();
  if (!::mkdtemp(path.data())) throw std::runtime_error("no folder can be made in " + path);
  path_ = path;
  testing::write_text(path_ / "c++", compiler);
  fs::permissions(path_ / "c++", fs::perms::owner_all);
  ::setenv("SINTER_HOST_CXX", (path_ / "c++").c_str(), 1);
  ::setenv("SINTER_VIRTUAL_GPUS", "2", 1);
  ::setenv("SINTER_CACHE_DIR", (path_ / "kernels").c_str(), 1);
  ::unsetenv("SINTER_DUMP_DIR");
}

Workplace::~Workplace() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Outcome Workplace::run(const Scenario& scenario, Fault fault, Trace& trace, Remains usual) const {
  const fs::path folder = path_ / "run", messages = path_ / "stderr";
  fs::remove_all(folder);
  fs::create_directory(folder);
  auto* const report =
      static_cast<Report*>(::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  report->ending = Ending::Finding;
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(patience_s);
    const int text = ::open(messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(text, 1);
    ::dup2(text, 2);
    ::close(text);
    fs::current_path(folder);
    ::setenv("TMPDIR", folder.c_str(), 1);
    if (is_readonly_) ::setenv("SINTER_CACHE", "readonly", 1);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) ::signal(signal, print_stack);
    live_as(scenario, fault, trace, usual, *report);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  Outcome outcome{report->ending, report->message, report->remains};
  ::munmap(report, sizeof(Report));
  if (status != 0) outcome = {Ending::Finding, how_it_ended(status), {}};
  if (outcome.ending == Ending::Finding) outcome.message += "\n" + testing::read_text(messages);
  return outcome;
}

std::string stack_of(const Trace& trace) {
  std::string text;
  constexpr int most = 16;  // what calls the library's own matters less
  for (int i = 0; i < std::min(trace.frames, most); ++i) {
    Dl_info info{};
    if (!::dladdr(trace.stack[i], &info) || !info.dli_fname) continue;
    const auto offset =
        reinterpret_cast<std::uintptr_t>(trace.stack[i]) - reinterpret_cast<std::uintptr_t>(info.dli_fbase) - 1;
    const std::string command =
        fmt::format("addr2line -Cfsipe '{}' {:#x} 2>/dev/null | cut -c-160", info.dli_fname, offset);
    char line[1000] = "";
    if (FILE* lines = ::popen(command.c_str(), "r")) {
      while (std::fgets(line, sizeof line, lines)) text += fmt::format("    {}", line);
      ::pclose(lines);
    }
  }
  return text;
}

}  // namespace sinter::faults
