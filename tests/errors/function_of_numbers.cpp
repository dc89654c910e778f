// expect: for numbers only, call a C++ function
// lines: g++ 9 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

#include <sinter/dsl/function.hpp>

const sn::function doubled([](auto x) { return x * 2; });
float f(const sn::Tensor<float>& x) {
#ifdef OK
  return sn::Tensor(doubled(x)).item();
#else
  return doubled(x.item());
#endif
}
