// expect: the axis comes first
// lines: g++ 9 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  static_cast<void>(sn::cat(0, x, x + 1));
#else
  static_cast<void>(sn::cat(x, x + 1));
#endif
}
