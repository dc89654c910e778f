// expect: the value has other extents than the tensor's type
// lines: g++ 12 clang 15
#include <sinter/sinter.hpp>

namespace sn = sinter;
using sn::dyn, sn::Extents;

void f(sn::Tensor<float, sn::Cpu, Extents<dyn, 3>>& x, const sn::Tensor<float, sn::Cpu, Extents<dyn, 4>>& w) {
#ifdef OK
  (void)w;
  x = x + 1;
#else
  x = w + 1;
#endif
}
