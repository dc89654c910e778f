// Plain loops, as one would write them without a library.
#include "inputs.hpp"

namespace {

template <class F>
void add(const char* name, F element) {
  bench::add(name, "plain", [element](std::size_t n) {
    return [element, &in = bench::inputs(n), r = std::vector<float>(n)]() mutable {
      const float *x = in.x.data(), *y = in.y.data(), *s = in.s.data(), *k = in.k.data(), *t = in.t.data();
      float* out = r.data();
      for (std::size_t i = 0; i < r.size(); ++i) out[i] = element(x[i], y[i], s[i], k[i], t[i]);
      benchmark::DoNotOptimize(out);
    };
  });
}

float normal_cdf(float d) { return 0.5f * (1 + std::erf(d * bench::sqrt_half)); }

float black_scholes(float s, float k, float t) {
  const float spread = bench::volatility * std::sqrt(t);
  const float d1 = (std::log(s / k) + (bench::rate + 0.5f * bench::volatility * bench::volatility) * t) / spread;
  return s * normal_cdf(d1) - k * std::exp(-bench::rate * t) * normal_cdf(d1 - spread);
}

[[maybe_unused]] const bool registered = [] {
  add("example", [](float x, float y, float, float, float) { return std::exp(x + 2) * y; });
  add("axpy", [](float x, float y, float, float, float) { return 1.5f * x + y; });
  add("gelu", [](float x, float, float, float, float) {
    return 0.5f * x * (1 + std::tanh(bench::sqrt_2_over_pi * (x + 0.044715f * x * x * x)));
  });
  add("black_scholes", [](float, float, float s, float k, float t) { return black_scholes(s, k, t); });
  return true;
}();

}  // namespace
