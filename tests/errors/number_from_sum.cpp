// expect: item() reads its only element
// lines: g++ 10 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

float f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  float s = x.sum().item();
#else
  float s = static_cast<float>(x.sum());
#endif
  return s;
}
