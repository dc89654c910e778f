// From the start of a process to its end: an empty program, one linked with Sinter, one that evaluates on the CPU; one
// that opens a GPU (a driver that does nothing), and one that also evaluates on it, with the kernel in the disk cache.
#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

bool run(char* const* arguments) {
  pid_t child = 0;
  int status = 0;
  return posix_spawn(&child, arguments[0], nullptr, nullptr, arguments, environ) == 0 &&
         waitpid(child, &status, 0) == child && status == 0;
}

void process(benchmark::State& state, const char* program, const char* argument) {
  std::string path = std::string(PROGRAMS "/") + program, option = argument ? argument : "";
  char* const arguments[] = {path.data(), argument ? option.data() : nullptr, nullptr};
  bool ran = run(arguments);  // the first run fills caches
  for (auto _ : state) ran = ran && run(arguments);
  if (!ran) state.SkipWithError("the program cannot be run");
}

/// A folder for the children's kernels, which lasts as long as this process.
struct CacheFolder {
  std::string path = std::filesystem::temp_directory_path() / "sinter-bench-XXXXXX";
  CacheFolder() {
    if (!mkdtemp(path.data())) std::abort();
    setenv("SINTER_CACHE", "on", 1);
    setenv("SINTER_CACHE_DIR", path.c_str(), 1);
    setenv("SINTER_CUDA_DRIVER", PROGRAMS "/null_driver.so", 1);
  }
  ~CacheFolder() { std::filesystem::remove_all(path); }
} const cache_folder;

BENCHMARK_CAPTURE(process, empty, "empty", nullptr)->UseRealTime();
BENCHMARK_CAPTURE(process, linked, "linked", nullptr)->UseRealTime();
BENCHMARK_CAPTURE(process, evaluating, "linked", "evaluate")->UseRealTime();
BENCHMARK_CAPTURE(process, device, "linked", "device")->UseRealTime();
BENCHMARK_CAPTURE(process, disk_hit, "linked", "gpu")->UseRealTime();

}  // namespace
