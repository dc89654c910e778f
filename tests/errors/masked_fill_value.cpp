// expect: the value does not fit the tensor's dtype: convert one of them with cast<T>(x)
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<int, sn::Cpu>& x) {
#ifdef OK
  auto e = x.masked_fill(x < 0, 1);
#else
  auto e = x.masked_fill(x < 0, 1.5);
#endif
}
