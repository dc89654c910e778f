// expect: declare it as sn::Tensor to hold values, or as sn::Lazy to build it in steps
// lines: g++ 10 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  sn::Tensor e = x + 1;
#else
  auto e = x + 1;
#endif
  e = e * 2;
}
