// expect: an operand of let or function has no value inside the body
// lines: g++ 18 clang 24
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<std::int64_t, sn::Cpu>& i) {
#ifdef OK
  const auto e = sn::let(x[i % 2], [](auto v) { return v * v; });
#else
  const auto e = sn::let(i % 2, [&](auto v) { return sn::take(x, v); });
#endif
  static_cast<void>(e);
}
