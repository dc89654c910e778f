// expect: the operands are on different devices: move one with .to(device), .cuda() or .cpu()
// expect: Cpu
// expect: Cuda<0>
// lines: g++ 8 clang 12
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<float, sn::Cuda<0>>& y) {
#ifdef OK
  bool same = sn::equal(x, y.cpu());
#else
  bool same = sn::equal(x, y);
#endif
}
