// expect: a braced list holds tensors of one type
// expect: cat(0, x + 1, y)
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  sn::Tensor e = sn::cat(0, x + 1, x), two = sn::cat({x, x}, 1);
#else
  sn::Tensor e = sn::cat({x + 1, x});
#endif
}
