// expect: a position or an axis is an integer, not a bool
// lines: g++ 10 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<std::int64_t, sn::Cpu>& indices) {
#ifdef OK
  static_cast<void>(x.gather(0, indices));
#else
  static_cast<void>(x.gather(true, indices));
#endif
}
