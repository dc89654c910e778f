// expect: a part that let or function named is computed with the whole and not known inside
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
