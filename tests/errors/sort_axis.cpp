// expect: a position or an axis is an integer, not a bool
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  auto sorted = x.sort(-1, true);
#else
  auto sorted = x.sort(true);  // descending comes behind the axis
#endif
}
