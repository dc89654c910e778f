// expect: the operands are on different devices: move one with .to(device), .cuda() or .cpu()
// expect: Cpu
// expect: Cuda<0>
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void use(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<float, sn::Cuda<0>>& y) {
#ifdef OK
  sn::Tensor r = sn::matmul(x.cuda(), y);
#else
  sn::Tensor r = sn::matmul(x, y);
#endif
}
