// expect: matmul takes as many columns on the left as rows on the right
// lines: g++ 13 clang 21
#include <sinter/sinter.hpp>

namespace sn = sinter;
using sn::dyn, sn::Extents;

void f(const sn::Tensor<float, sn::Cpu, Extents<dyn, 3>>& x, const sn::Tensor<float, sn::Cpu, Extents<4, 5>>& w,
       const sn::Tensor<float, sn::Cpu, Extents<3, 5>>& v) {
#ifdef OK
  (void)w;
  sn::Tensor y = x.matmul(v);
#else
  sn::Tensor y = x.matmul(w);
#endif
}
