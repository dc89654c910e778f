// expect: an operand of let or function has no value inside the body
// lines: g++ 28 clang 42
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  const auto e = sn::let(x + 1, [joined = sn::cat(0, x, x)](auto v) { return v + joined; });
#else
  const auto e = sn::let(x + 1, [](auto v) { return sn::cat(0, v, v) + v; });
#endif
  static_cast<void>(e);
}
