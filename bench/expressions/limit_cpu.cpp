// The STREAM triad a = b + q * c, and multiply-adds in registers, on all threads available to the process.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/version.h>

#include <memory>
#include <vector>

#include "inputs.hpp"
#include "limit.hpp"

namespace {

struct Triad {
  explicit Triad(std::size_t n) : a(n), b(n, 1.5f), c(n, 2.5f) {}
  void run() {
    if (a.size() <= 65'536)
      part(0, a.size());
    else
      tbb::parallel_for(
          tbb::blocked_range<std::size_t>(0, a.size(), 32'768), [&](const auto& r) { part(r.begin(), r.end()); },
          tbb::static_partitioner());
    benchmark::DoNotOptimize(a.data());
  }
  void wait() {}
  void part(std::size_t first, std::size_t last) {
    float* __restrict to = a.data();
    const float *from = b.data(), *factor = c.data();
    for (std::size_t i = first; i < last; ++i) to[i] = from[i] + 3.f * factor[i];
  }
  std::vector<float> a, b, c;
};

#if defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif
using Vector = float __attribute__((vector_size(4 * lanes)));
constexpr int chains = 12, rounds = 1'000'000;

/// As many chains as hide the latency of a multiply-add and fit into 16 registers with the two operands, and enough
/// rounds to make the start of threads negligible.
void multiply_add() {
  Vector sums[chains] = {}, factor = Vector{} + 0.999f, term = Vector{} + 0.001f;
  asm volatile("" : "+m"(factor), "+m"(term));
  for (int round = 0; round < rounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) sums[i] = sums[i] * factor + term;
  benchmark::DoNotOptimize(sums);
}

void peak(benchmark::State& state) {
  const int threads = tbb::this_task_arena::max_concurrency();
  for (auto _ : state) {
    if (threads == 1)
      multiply_add();
    else
      tbb::parallel_for(0, threads, [](int) { multiply_add(); }, tbb::static_partitioner());
  }
  bench::report_peak(state, 2.0 * lanes * chains * rounds * threads);
}

const bench::Register registered([] {
  if (bench::options().on_gpu()) return;
  benchmark::AddCustomContext("tbb", TBB_runtime_version());
  bench::add_limits(3, [](std::size_t n) { return std::make_shared<Triad>(n); });
  benchmark::RegisterBenchmark("limit/peak/0", peak)->UseRealTime();
});

}  // namespace
