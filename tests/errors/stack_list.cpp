// expect: a braced list holds tensors of one type
// expect: stack(0, x + 1, y)
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<float, sn::Cuda<0>>& y) {
#ifdef OK
  auto e = sn::stack({x, y.cpu()}, 0);
#else
  auto e = sn::stack({x, y}, 0);
#endif
}
