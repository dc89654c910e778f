// expect: the value has other extents than the tensor's type
// lines: g++ 12 clang 14
#include <sinter/sinter.hpp>

namespace sn = sinter;
using sn::Extents;

void f(sn::Tensor<float, sn::Cpu, Extents<3>>& x, const sn::Tensor<float, sn::Cpu, Extents<2, 3>>& w) {
#ifdef OK
  (void)w;
  x += 1;
#else
  x += w;
#endif
}
