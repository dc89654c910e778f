// expect: a mask of bools is for where(mask, x, y)
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  auto e = sn::masked_fill(x, x < 0, 0);
#else
  auto e = x.take(x < 0);
#endif
}
