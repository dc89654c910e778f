// expect: write (x == y).all().item() or equal(x, y)
// lines: g++ 10 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

int f(const sn::Tensor<float>& x, const sn::Tensor<float>& y) {
#ifdef OK
  if ((x == y).all().item()) return 1;
#else
  if (x == y) return 1;
#endif
  return 0;
}
