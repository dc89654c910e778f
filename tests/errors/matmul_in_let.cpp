// expect: which is not known inside the body of let or function: write matmul(a, b) there
// lines: g++ 14 clang 15
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  const sn::Tensor y = sn::let(x + 1, [](auto v) { return sn::matmul(v, v) + v; });
#else
  const sn::Tensor y = sn::let(x + 1, [](auto v) { return sn::bmm(v, v) + v; });
#endif
  static_cast<void>(y);
}
