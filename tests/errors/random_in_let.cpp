// expect: how many random numbers a part takes that let or function named is not known inside
// lines: g++ 14 clang 14
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  const auto e = sn::let(x + 1, [mask = sn::rand_like(x)](auto v) { return v * mask; });
#else
  const auto e = sn::let(x + 1, [](auto v) { return sn::dropout(v); });
#endif
  static_cast<void>(e);
}
