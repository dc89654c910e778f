// expect: the input has another dtype than the module's parameters: convert it with cast<T>(x), or make the module of
// its dtype
#include <sinter/nn.hpp>

namespace sn = sinter;
namespace nn = sinter::nn;

void f(const nn::Linear& layer, const sn::Tensor<double, sn::Cpu>& x) {
#ifdef OK
  sn::Tensor y = layer(sn::cast<float>(x));
#else
  sn::Tensor y = layer(x);
#endif
}
