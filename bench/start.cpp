// From the start of a process to its end: an empty program, one with Sinter linked, one that evaluates on the CPU.
#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace {

void process(benchmark::State& state, const char* program, const char* argument) {
  std::string path = std::string(PROGRAMS "/") + program, option = argument ? argument : "";
  char* const arguments[] = {path.data(), argument ? option.data() : nullptr, nullptr};
  for (auto _ : state) {
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, path.c_str(), nullptr, nullptr, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
      state.SkipWithError("the program cannot be run");
      return;
    }
  }
}

BENCHMARK_CAPTURE(process, empty, "empty", nullptr)->UseRealTime();
BENCHMARK_CAPTURE(process, linked, "linked", nullptr)->UseRealTime();
BENCHMARK_CAPTURE(process, evaluating, "linked", "evaluate")->UseRealTime();

}  // namespace
