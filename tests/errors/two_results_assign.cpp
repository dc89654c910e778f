// expect: take .values or write auto [values, indices]
// lines: g++ 10 clang 14
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float>& x, sn::Tensor<float>& r) {
#ifdef OK
  r = x.max(0).values;
#else
  r = x.max(0);
#endif
}
