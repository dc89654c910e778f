// expect: the operands' shapes do not go together: extents of one axis are equal or 1
// lines: g++ 11 clang 16
#include <sinter/sinter.hpp>

namespace sn = sinter;
using sn::dyn, sn::Extents;

void f(const sn::Tensor<float, sn::Cpu, Extents<dyn, 3>>& x, const sn::Tensor<float, sn::Cpu, Extents<4>>& b,
       const sn::Tensor<float, sn::Cpu, Extents<3>>& c) {
#ifdef OK
  (void)b;
  sn::Tensor y = x + c;
#else
  sn::Tensor y = x + b;
#endif
}
