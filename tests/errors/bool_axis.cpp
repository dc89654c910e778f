// expect: a position or an axis is an integer, not a bool
// lines: g++ 8 clang 12
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  auto v = x.transpose(0, 1);
#else
  auto v = x.transpose(0, true);
#endif
}
