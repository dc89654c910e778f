// The expressions by every library: expressions --sizes=3,1000 --device=cpu [Google Benchmark's options]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sinter/sinter.hpp>
#include <sstream>

#include "suite.hpp"

namespace bench {
namespace {

Options chosen;

/// Takes what is ours out of the arguments.
bool take(const char* argument) {
  if (std::strncmp(argument, "--sizes=", 8) == 0) {
    std::istringstream list(argument + 8);
    for (std::string size; std::getline(list, size, ',');) chosen.sizes.push_back(std::atol(size.c_str()));
    return true;
  }
  if (std::strncmp(argument, "--device=", 9) == 0) {
    chosen.device = argument + 9;
    return true;
  }
  return false;
}

/// One cycle an addition: they depend on each other.
void clock_rate(benchmark::State& state) {
  constexpr int additions = 1000;
  unsigned long value = 0;
  for (auto _ : state)
    for (int i = 0; i < additions; ++i) {
      value += 1;
      asm volatile("" : "+r"(value));
    }
  state.counters["ghz"] = benchmark::Counter(additions * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void describe() {
#if defined(__clang__)
  benchmark::AddCustomContext("compiler", "clang " __clang_version__);
#else
  benchmark::AddCustomContext("compiler", "g++ " __VERSION__);
#endif
  benchmark::AddCustomContext("sinter", SINTER_VERSION);
  benchmark::AddCustomContext("peer_flags", PEER_FLAGS);
  std::string gpus;
  for (int i = 0; i < sinter::device_count(); ++i)
    gpus += (i ? ", " : "") + sinter::device_name(i) + " sm_" +
            std::to_string(10 * sinter::compute_capability(i).major + sinter::compute_capability(i).minor);
  benchmark::AddCustomContext("gpus", gpus);
}

}  // namespace

const Options& options() { return chosen; }
std::vector<Registrar>& registrars() {
  static std::vector<Registrar> all;
  return all;
}

}  // namespace bench

int main(int argc, char** argv) {
  int kept = 1;
  for (int i = 1; i < argc; ++i)
    if (!bench::take(argv[i])) argv[kept++] = argv[i];
  benchmark::Initialize(&kept, argv);
  if (benchmark::ReportUnrecognizedArguments(kept, argv)) return 1;
  try {
    if (bench::chosen.on_gpu()) {
      const sinter::Device gpu(bench::chosen.device);
      sinter::set_device(gpu.index());
      bench::chosen.virtual_gpu = std::getenv("SINTER_VIRTUAL_GPUS") != nullptr;
    }
    bench::describe();
    benchmark::RegisterBenchmark("clock", bench::clock_rate);
    for (const bench::Registrar add : bench::registrars()) add();
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
