// expect: an operand of let or function has no value inside the body
// lines: g++ 18 clang 24
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  const auto e = sn::let((x + 1).t(), [](auto v) { return v * v; });
#else
  const auto e = sn::let(x + 1, [](auto v) { return v.t() * v; });
#endif
  static_cast<void>(e);
}
