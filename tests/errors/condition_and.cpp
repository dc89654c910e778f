// expect: & and | for && and ||
// lines: g++ 10 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

auto f(const sn::Tensor<float>& x) {
#ifdef OK
  return (x > 0) & (x < 2);
#else
  return x > 0 && x < 2;
#endif
}
