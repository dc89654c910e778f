// expect: for two operands use maximum(x, y), minimum(x, y)
// lines: g++ 9 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float>& x) {
#ifdef OK
  sn::Tensor r = sn::maximum(x, 0.f);
#else
  sn::Tensor r = sn::max(x, 0.f);
#endif
}
