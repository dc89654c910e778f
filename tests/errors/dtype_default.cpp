// expect: this operation does not take operands of these dtypes: convert one with cast<T>(x)
// lines: g++ 11 clang 16
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<int, sn::Cpu>& x) {
#ifdef OK
  auto e = sn::mish(sn::cast<float>(x));
#else
  auto e = sn::mish(x);
#endif
}
