// expect: the correction is a number, 1 or 0, not a bool; keepdim keeps the axes
// lines: g++ 10 clang 14
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  static_cast<void>(sn::var(x, -1, sn::keepdim));
#else
  static_cast<void>(sn::var(x, -1, true));
#endif
}
