// expect: max and min reduce: for two tensors use maximum(x, y), minimum(x, y)
// lines: g++ 9 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<float, sn::Cpu>& y) {
#ifdef OK
  static_cast<void>(sn::maximum(x, y));
#else
  static_cast<void>(sn::max(x, y));
#endif
}
