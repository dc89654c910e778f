// expect: the operands are on different devices: move one with .to(device), .cuda() or .cpu()
// expect: Cuda<0>
// expect: Cuda<1>
// lines: g++ 8 clang 12
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cuda<0>>& x, const sn::Tensor<float, sn::Cuda<1>>& y) {
#ifdef OK
  auto e = x + y.to(sn::cuda<0>);
#else
  auto e = x + y;
#endif
}
