// The STREAM triad: what memory allows. a = b + q * c, with one thread and with all.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "inputs.hpp"

namespace {

void triad(float* a, const float* b, const float* c, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + 3.f * c[i];
}

template <class F>
void add(const char* library, F run) {
  bench::add("triad", library, [run](std::size_t n) {
    return [run, b = std::vector<float>(n, 1), c = std::vector<float>(n, 2), a = std::vector<float>(n)]() mutable {
      run(a.data(), b.data(), c.data(), a.size());
      benchmark::DoNotOptimize(a.data());
    };
  });
}

[[maybe_unused]] const bool registered = [] {
  add("one_thread", triad);
  add("all_threads", [](float* a, const float* b, const float* c, std::size_t n) {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, n, 65536),
        [=](const auto& part) { triad(a + part.begin(), b + part.begin(), c + part.begin(), part.size()); },
        tbb::static_partitioner());
  });
  return true;
}();

}  // namespace
