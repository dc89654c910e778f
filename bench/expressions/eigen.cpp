// Eigen's arrays, for the processor at hand.
#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

#include "inputs.hpp"

namespace {

using Array = Eigen::ArrayXf;
using View = Eigen::Map<const Array>;

struct Operands {
  explicit Operands(std::size_t n) : Operands(bench::inputs(n)) {}
  explicit Operands(const bench::Inputs& in)
      : x(copy(in.x)), y(copy(in.y)), s(copy(in.s)), k(copy(in.k)), t(copy(in.t)), r(x.size()) {}
  static Array copy(const std::vector<float>& v) { return View(v.data(), static_cast<Eigen::Index>(v.size())); }
  Array x, y, s, k, t, r;
};

template <class D>
auto normal_cdf(const D& d) {
  return 0.5f * (1 + (d * bench::sqrt_half).erf());
}

void black_scholes(Operands& o) {
  // The parts that are used twice have arrays of their own: Eigen computes an expression again at each use.
  const Array spread = bench::volatility * o.t.sqrt();
  const Array d1 = ((o.s / o.k).log() + (bench::rate + 0.5f * bench::volatility * bench::volatility) * o.t) / spread;
  o.r = o.s * normal_cdf(d1) - o.k * (-bench::rate * o.t).exp() * normal_cdf(d1 - spread);
}

template <class F>
void add(const char* name, F evaluate) {
  bench::add(name, "eigen", [evaluate](std::size_t n) {
    return [evaluate, o = Operands(n)]() mutable {
      evaluate(o);
      benchmark::DoNotOptimize(o.r.data());
    };
  });
}

[[maybe_unused]] const bool registered = [] {
  add("example", [](Operands& o) { o.r = (o.x + 2).exp() * o.y; });
  add("axpy", [](Operands& o) { o.r = 1.5f * o.x + o.y; });
  add("gelu", [](Operands& o) {
    o.r = 0.5f * o.x * (1 + (bench::sqrt_2_over_pi * (o.x + 0.044715f * o.x * o.x * o.x)).tanh());
  });
  add("black_scholes", [](Operands& o) { black_scholes(o); });
  return true;
}();

}  // namespace
