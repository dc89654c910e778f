// expect: an operand of let or function has no value inside the body
// lines: g++ 14 clang 14
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  const auto e = sn::let(x * 2, [](auto w) { return sn::let(w + 1, [w](auto v) { return v * w; }); });
#else
  const auto e = sn::let(x * 2, [](auto w) { return sn::masked_select(w * 1, w > 0); });
#endif
  static_cast<void>(e);
}
