// expect: a part that let or function named is computed with the whole and not known inside
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
