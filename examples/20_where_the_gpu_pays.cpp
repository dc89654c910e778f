// Products of small and of large matrices on every device: from which size on does a GPU pay?
//   20_where_the_gpu_pays        up to 64 x 64, and whether the devices agree
//   20_where_the_gpu_pays 8192   up to 8192 x 8192, with times in milliseconds
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sinter/sinter.hpp>
#include <string>
#include <vector>

namespace sn = sinter;
using Clock = std::chrono::steady_clock;

// [milliseconds]
/// Milliseconds that f takes: the mean over as many calls as fit in a tenth of a second. The first one, which may
/// compile and load, does not count. A GPU is still at work when a call returns, so the clock stops after
/// synchronize().
template <class F>
double milliseconds(const sn::Device& device, F f) {
  const auto run = [&](int calls) {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) f();
    sn::synchronize(device);
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  run(1);
  int calls = 1;
  double total = run(calls);
  while (total < 100) total = run(calls *= 2);
  return total / calls;
}
// [/milliseconds]

/// Small integers: every device sums them without rounding.
sn::Tensor<float> matrix(std::int64_t n, std::int64_t step) {
  return (sn::arange(n * n) * step % 5 - 2).to<float>().reshape({n, n});
}

int main(int count, char** arguments) {
  const bool timed = count > 1;
  const std::int64_t largest = timed ? std::atoll(arguments[1]) : 64;
  if (largest < 2) {
    std::fprintf(stderr, "usage: %s [largest matrix, such as 8192]\n", arguments[0]);
    return 2;
  }
  std::vector<sn::Device> gpus;
  for (int i = 0; i < sn::device_count(); ++i) gpus.emplace_back(i);

  std::printf("%12s %14s", "matrices", "flop");
  if (timed) std::printf(" %10s", "cpu");
  for (const sn::Device& gpu : gpus)
    timed ? std::printf(" %10s %10s", to_string(gpu).c_str(), "and copies")
          : std::printf(" %10s", to_string(gpu).c_str());
  std::printf("\n");

  std::optional<std::int64_t> pays;
  for (std::int64_t n = 2; n <= largest; n *= 2) {
    const auto a = matrix(n, 3), b = matrix(n, 7);
    const sn::Tensor<float> product = sn::matmul(a, b);
    const std::string size = std::to_string(n) + " x " + std::to_string(n);
    std::printf("%12s %14lld", size.c_str(), 2ll * n * n * n);
    const double on_cpu = timed ? milliseconds(sn::cpu, [&] { sn::Tensor<float> c = sn::matmul(a, b); }) : 0;
    if (timed) std::printf(" %10.4f", on_cpu);
    for (const sn::Device& gpu : gpus) {
      const auto x = a.to(gpu), y = b.to(gpu);
      const auto multiply = [&] { return sn::Tensor<float, sn::AnyDevice>(sn::matmul(x, y)); };
      if (!timed) {
        std::printf(" %10s", sn::equal(multiply().cpu(), product) ? "agrees" : "differs");
        continue;
      }
      const double on_gpu = milliseconds(gpu, multiply);
      const double with_copies = milliseconds(gpu, [&] {
        const auto there = sn::Tensor<float, sn::AnyDevice>(sn::matmul(a.to(gpu), b.to(gpu)));
        return there.cpu();
      });
      std::printf(" %10.4f %10.4f", on_gpu, with_copies);
      if (on_gpu < on_cpu && !pays) pays = n;
    }
    std::printf("\n");
  }
  if (timed && !gpus.empty())
    pays
        ? std::printf("A GPU pays from %lld x %lld on.\n", static_cast<long long>(*pays), static_cast<long long>(*pays))
        : std::printf("No GPU paid up to this size.\n");
}
