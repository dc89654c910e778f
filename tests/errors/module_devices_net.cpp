// expect: the operands are on different devices: move one with .to(device), .cuda() or .cpu()
// expect: Cuda<0>
// lines: g++ 8 clang 12
#include <sinter/nn.hpp>

namespace sn = sinter;
namespace nn = sinter::nn;

void f(const nn::Sequential<nn::Linear, nn::ReLU, nn::LayerNorm>& net, const sn::Tensor<float, sn::Cpu>& x) {
  auto on_gpu = net.to(sn::cuda<0>);
#ifdef OK
  sn::Tensor y = on_gpu(x.to(sn::cuda<0>));
#else
  sn::Tensor y = on_gpu(x);
#endif
}
