// expect: the expression has another dtype: convert it with cast<T>(x)
// lines: g++ 9 clang 12
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  sn::Tensor<double, sn::Cpu> r = sn::cast<double>(x + 1);
#else
  sn::Tensor<double, sn::Cpu> r = x + 1;
#endif
}
