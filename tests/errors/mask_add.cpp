// expect: x[mask] is a new tensor, and writing to it is lost
// expect: x.assign(where(mask, x + y, x))
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  x.assign(sn::where(x > 0, x + 5, x));
  x[0] += 5;
#else
  x[x > 0] += 5;
#endif
}
