// expect: a position or an axis is an integer, not a bool
// lines: g++ 9 clang 13
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  auto v = x(sn::range(), 1);
#else
  auto v = x(sn::range(), true);
#endif
}
