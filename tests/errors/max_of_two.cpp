// expect: max and min reduce: for two operands use maximum(x, y), minimum(x, y)
// lines: g++ 9 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<float, sn::Cpu>& y) {
#ifdef OK
  sn::Tensor r = sn::maximum(x, y);
#else
  sn::Tensor r = sn::max(x, y);
#endif
}
