// expect: the operands are on different devices
// lines: g++ 10 clang 18
#include <sinter/sinter.hpp>

namespace sn = sinter;

auto f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<float, sn::Cuda<0>>& y) {
#ifdef OK
  return maximum(x, y.cpu());
#else
  return maximum(x, y);
#endif
}
