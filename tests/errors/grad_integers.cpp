// expect: gradients are of floats and complex numbers
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<float, sn::Cuda<0>>& z,
       const sn::Tensor<int, sn::Cpu>& i) {
#ifdef OK
  auto g = sn::grad(x.sum(), x);
#else
  auto g = sn::grad(x.sum(), i);
#endif
  (void)z, (void)i;
}
