// What every library computes, and on what. Sizes are numbers of float elements.
#pragma once
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace bench {

/// n uniform numbers in [low, high), the same in every library.
inline std::vector<float> uniform(std::size_t n, float low, float high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(n);
  for (float& v : values) v = distribution(generator);
  return values;
}

/// The operands of all expressions:
///   example        (x + 2).exp() * y
///   axpy           a * x + y, a = 1.5
///   gelu           0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
///   black_scholes  the price of a call with spot s, strike k, time t, rate 0.02, volatility 0.3:
///                  s * N(d1) - k * exp(-rate * t) * N(d2), N(d) = 0.5 * (1 + erf(d / sqrt(2)))
struct Inputs {
  explicit Inputs(std::size_t n)
      : x(uniform(n, -3, 3, 1)),
        y(uniform(n, -1, 1, 2)),
        s(uniform(n, 50, 150, 3)),
        k(uniform(n, 50, 150, 4)),
        t(uniform(n, 0.1f, 2, 5)) {}
  std::vector<float> x, y, s, k, t;
};

/// The inputs of each size, made once: drawing ten million numbers takes longer than any expression.
inline const Inputs& inputs(std::size_t n) {
  static std::map<std::size_t, Inputs> made;
  return made.try_emplace(n, n).first->second;
}

inline constexpr float rate = 0.02f;
inline constexpr float volatility = 0.3f;
inline constexpr float sqrt_half = 0.70710678f;
inline constexpr float sqrt_2_over_pi = 0.7978845608f;

inline const std::vector<long>& sizes() {
  static const std::vector<long> all = {3, 1000, 100'000, 10'000'000};
  return all;
}

/// Registers "expression/library/n" for every size. `make(n)` returns a callable that evaluates once.
template <class Make>
void add(const char* expression, const char* library, Make make) {
  for (const long n : sizes()) {
    const std::string name = std::string(expression) + "/" + library + "/" + std::to_string(n);
    benchmark::RegisterBenchmark(name.c_str(), [make, n](benchmark::State& state) {
      auto run = make(static_cast<std::size_t>(n));
      run();
      for (auto _ : state) {
        run();
        benchmark::ClobberMemory();
      }
      state.SetItemsProcessed(state.iterations() * n);
    })->UseRealTime();
  }
}

}  // namespace bench
