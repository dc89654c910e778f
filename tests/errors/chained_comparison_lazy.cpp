// expect: a < b < c compares the bools of a < b: write (a < b) & (b < c)
// lines: g++ 13 clang 18
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Lazy<float, sn::Cpu>& l) {
#ifdef OK
  auto e = (l < x) & (x < 1);
#else
  auto e = (l < x) < x;
#endif
}
