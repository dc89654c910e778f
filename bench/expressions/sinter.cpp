// Sinter, fused and eager, into tensors that are there already, as the other libraries do.
#include <memory>
#include <sinter/sinter.hpp>

#include "inputs.hpp"

namespace sn = sinter;

namespace {

struct Operands {
  explicit Operands(std::size_t n) : Operands(bench::inputs(n)) {}
  explicit Operands(const bench::Inputs& in)
      : x(copy(in.x)), y(copy(in.y)), s(copy(in.s)), k(copy(in.k)), t(copy(in.t)), r(sn::empty_like(x)) {}
  static sn::Tensor<float, sn::Cpu> copy(const std::vector<float>& v) { return sn::tensor(v, {v.size()}); }
  sn::Tensor<float, sn::Cpu> x, y, s, k, t, r;
};

auto example(const Operands& o) { return (o.x + 2).exp() * o.y; }
auto axpy(const Operands& o) { return 1.5 * o.x + o.y; }
auto gelu(const Operands& o) {
  const auto& x = o.x;
  return 0.5 * x * (1 + sn::tanh(bench::sqrt_2_over_pi * (x + 0.044715 * x * x * x)));
}
auto normal_cdf(const auto& d) { return 0.5 * (1 + sn::erf(d * bench::sqrt_half)); }
auto black_scholes(const Operands& o) {
  const auto spread = bench::volatility * sn::sqrt(o.t);
  const auto d1 = (sn::log(o.s / o.k) + (bench::rate + 0.5 * bench::volatility * bench::volatility) * o.t) / spread;
  return o.s * normal_cdf(d1) - o.k * sn::exp(-bench::rate * o.t) * normal_cdf(d1 - spread);
}

template <class F>
void add(const char* name, F expression) {
  bench::add(name, "sinter", [expression](std::size_t n) {
    return [expression, o = std::make_shared<Operands>(n)] { o->r.assign(expression(*o)); };
  });
  bench::add(name, "eager", [expression](std::size_t n) {
    return [expression, o = std::make_shared<Operands>(n)] { o->r = sn::eager(expression(*o)); };
  });
}

[[maybe_unused]] const bool registered = [] {
  add("example", [](const Operands& o) { return example(o); });
  add("axpy", [](const Operands& o) { return axpy(o); });
  add("gelu", [](const Operands& o) { return gelu(o); });
  add("black_scholes", [](const Operands& o) { return black_scholes(o); });
  return true;
}();

}  // namespace
