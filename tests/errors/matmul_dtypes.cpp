// expect: matrix products take operands of one dtype, of floats or complex numbers: convert one with cast<T>(x)
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void use(const sn::Tensor<float>& x, const sn::Tensor<double>& y) {
#ifdef OK
  sn::Tensor r = sn::matmul(x, sn::cast<float>(y));
#else
  sn::Tensor r = sn::matmul(x, y);
#endif
}
