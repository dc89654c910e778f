// expect: the type of this module contains its device: write auto moved = net.to(device)
#include <sinter/nn.hpp>

namespace sn = sinter;
namespace nn = sinter::nn;

void f(nn::LinearOf<float, sn::Cuda<0>>& layer) {
#ifdef OK
  auto moved = layer.to(sn::cpu);
#else
  layer.to_(sn::cpu);
#endif
}
