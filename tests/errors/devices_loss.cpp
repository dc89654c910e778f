// expect: the operands are on different devices: move one with .to(device), .cuda() or .cpu()
// lines: g++ 9 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<float, sn::Cuda<0>>& y) {
#ifdef OK
  static_cast<void>(sn::mse_loss(x, y.cpu()));
#else
  static_cast<void>(sn::mse_loss(x, y));
#endif
}
