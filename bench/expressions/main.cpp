// The expressions by every library: expressions --sizes=3,1000 --device=cpu [Google Benchmark's options]. Operations
// along rows: rows --sizes=65536 --columns=64,1024. Products: products --shapes=linear:512x1024x1024
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sinter/sinter.hpp>
#include <sstream>

#include "suite.hpp"

namespace bench {
namespace {

Options chosen;

/// Parses "--sizes=3,1000", separated by commas.
template <class T, class Read>
bool take_list(const char* argument, const char* name, std::vector<T>& to, const Read& read) {
  const std::size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0) return false;
  std::istringstream list(argument + length);
  for (std::string item; std::getline(list, item, ',');) to.push_back(read(item));
  return true;
}

/// Takes one of this program's options from the arguments.
bool take(const char* argument) {
  const auto number = [](const std::string& item) { return std::atol(item.c_str()); };
  if (take_list(argument, "--sizes=", chosen.sizes, number) ||
      take_list(argument, "--columns=", chosen.columns, number) ||
      take_list(argument, "--shapes=", chosen.shapes, std::identity()))
    return true;
  if (std::strncmp(argument, "--device=", 9) == 0) {
    chosen.device = argument + 9;
    return true;
  }
  return false;
}

/// One cycle per addition, since each depends on the previous one.
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
  if (std::getenv("SINTER_CPU_JIT") == nullptr) sinter::set_cpu_jit(sinter::CpuJit::Always);
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
