// expect: x.assign(value) writes to its elements
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(sn::Tensor<float>& x) {
#ifdef OK
  x.assign(5);
#else
  x = 5;
#endif
}
