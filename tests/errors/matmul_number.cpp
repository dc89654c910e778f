// expect: matrix products take two tensors or expressions: multiply by a number with *
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void use(const sn::Tensor<float>& x) {
#ifdef OK
  sn::Tensor r = x * 2;
#else
  sn::Tensor r = sn::matmul(x, 2);
#endif
}
