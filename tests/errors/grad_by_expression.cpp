// expect: gradients are taken with respect to tensors: grad(loss, x, w)
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<float, sn::Cuda<0>>& z,
       const sn::Tensor<int, sn::Cpu>& i) {
#ifdef OK
  auto g = sn::grad(x.sum(), x);
#else
  auto g = sn::grad(x.sum(), x * 2);
#endif
  (void)z, (void)i;
}
