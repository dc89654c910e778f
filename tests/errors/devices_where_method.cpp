// expect: the operands are on different devices: move one with .to(device), .cuda() or .cpu()
// expect: Cpu
// expect: Cuda<0>
// lines: g++ 9 clang 21
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<float, sn::Cuda<0>>& y) {
#ifdef OK
  auto e = x.where(x > 0, y.cpu());
#else
  auto e = x.where(x > 0, y);
#endif
}
