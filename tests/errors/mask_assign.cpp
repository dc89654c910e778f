// expect: x[mask] is a new tensor, and writing to it is lost: write to x with x.masked_fill_(mask, value)
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  x.masked_fill_(x < 0, 0);
#else
  x[x < 0] = 0;
#endif
}
