// expect: the shape of an operand of let or function is not known inside the body: draw the random numbers outside
// lines: g++ 14 clang 14
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  const auto e = sn::let(x + 1, [mask = sn::rand_like(x)](auto v) { return v * mask; });
#else
  const auto e = sn::let(x + 1, [](auto v) { return sn::dropout(v); });
#endif
  static_cast<void>(e);
}
