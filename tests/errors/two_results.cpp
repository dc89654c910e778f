// expect: take .values or write auto [values, indices]
// lines: g++ 9 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float>& x) {
#ifdef OK
  sn::Tensor r = x.max(0).values;
#else
  sn::Tensor r = x.max(0);
#endif
}
