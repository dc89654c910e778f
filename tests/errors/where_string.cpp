// expect: an operand is a tensor, an expression, a C++ number or an integral constant
// lines: g++ 9 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

auto f(const sn::Tensor<float>& x) {
#ifdef OK
  return sn::where(x > 0, x, -sn::inf);
#else
  return sn::where(x > 0, x, "-inf");
#endif
}
