// expect: the operands are on different devices
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<float, sn::Cuda<>>& y) {
#ifdef OK
  auto e = x.cuda() + y;
#else
  auto e = x + y;
#endif
}
