// expect: a < b < c compares the bools of a < b: write (a < b) & (b < c)
// lines: g++ 11 clang 16
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  auto e = (0 < x) & (x < 1);
#else
  auto e = 0 < x < 1;
#endif
}
