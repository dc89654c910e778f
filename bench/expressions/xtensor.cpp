// xtensor's containers, for the processor at hand.
#include "inputs.hpp"
// xtensor uses std::numeric_limits and std::exchange without including them.
#include <limits>
#include <utility>
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>

namespace {

using Array = xt::xtensor<float, 1>;

struct Operands {
  explicit Operands(std::size_t n) : Operands(bench::inputs(n)) {}
  explicit Operands(const bench::Inputs& in)
      : x(copy(in.x)),
        y(copy(in.y)),
        s(copy(in.s)),
        k(copy(in.k)),
        t(copy(in.t)),
        r(Array::from_shape({in.x.size()})) {}
  static Array copy(const std::vector<float>& v) { return xt::adapt(v, {v.size()}); }
  Array x, y, s, k, t, r;
};

template <class D>
Array normal_cdf(const D& d) {
  return 0.5f * (1.f + xt::erf(d * bench::sqrt_half));
}

void black_scholes(Operands& o) {
  const Array spread = bench::volatility * xt::sqrt(o.t);
  const Array d1 = (xt::log(o.s / o.k) + (bench::rate + 0.5f * bench::volatility * bench::volatility) * o.t) / spread;
  xt::noalias(o.r) = o.s * normal_cdf(d1) - o.k * xt::exp(-bench::rate * o.t) * normal_cdf(d1 - spread);
}

template <class F>
void add(const char* name, F evaluate) {
  bench::add(name, "xtensor", [evaluate](std::size_t n) {
    return [evaluate, o = Operands(n)]() mutable {
      evaluate(o);
      benchmark::DoNotOptimize(o.r.data());
    };
  });
}

[[maybe_unused]] const bool registered = [] {
  add("example", [](Operands& o) { xt::noalias(o.r) = xt::exp(o.x + 2.f) * o.y; });
  add("axpy", [](Operands& o) { xt::noalias(o.r) = 1.5f * o.x + o.y; });
  add("gelu", [](Operands& o) {
    xt::noalias(o.r) = 0.5f * o.x * (1.f + xt::tanh(bench::sqrt_2_over_pi * (o.x + 0.044715f * o.x * o.x * o.x)));
  });
  add("black_scholes", [](Operands& o) { black_scholes(o); });
  return true;
}();

}  // namespace
