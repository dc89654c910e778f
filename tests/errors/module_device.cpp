// expect: the operands are on different devices: move one with .to(device), .cuda() or .cpu()
// expect: Cuda<0>
// lines: g++ 8 clang 12
#include <sinter/nn.hpp>

namespace sn = sinter;
namespace nn = sinter::nn;

void f(const nn::LinearOf<float, sn::Cuda<0>>& layer, const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  sn::Tensor y = layer(x.to(sn::cuda<0>));
#else
  sn::Tensor y = layer(x);
#endif
}
