// expect: a position or an axis is an integer, not a bool
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  static_cast<void>(x.sum(1));
#else
  static_cast<void>(x.sum({0, true}));
#endif
}
