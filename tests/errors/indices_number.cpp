// expect: indices are integers in a tensor, as tensor({0, 2}), or an expression
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  const auto e = x.take(sn::tensor(5));
#else
  const auto e = x.take(5);
#endif
  static_cast<void>(e);
}
