// expect: the operands are on different devices: move one with .to(device), .cuda() or .cpu()
// expect: Cpu
// expect: Cuda<0>
// lines: g++ 8 clang 12
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<std::int64_t, sn::Cpu>& x, const sn::Tensor<int, sn::Cuda<0>>& y) {
#ifdef OK
  auto e = x << y.cpu();
#else
  auto e = x << y;
#endif
}
