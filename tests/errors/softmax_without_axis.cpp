// expect: the axis is missing: softmax(x, -1)
// lines: g++ 9 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  static_cast<void>(sn::softmax(x, -1));
#else
  static_cast<void>(sn::softmax(x));
#endif
}
