// expect: this operation does not take operands of these dtypes: convert one with cast<T>(x)
// lines: g++ 11 clang 16
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  auto e = sn::cast<std::int64_t>(x) & 1;
#else
  auto e = x & 1;
#endif
}
