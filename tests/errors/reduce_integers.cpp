// expect: this operation does not take operands of these dtypes: convert one with cast<T>(x)
// lines: g++ 18 clang 24
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<std::int64_t, sn::Cpu>& x) {
#ifdef OK
  static_cast<void>(sn::mean(sn::cast<float>(x)));
#else
  static_cast<void>(sn::mean(x));
#endif
}
