// expect: the net has no module with this number
// lines: g++ 9 clang 12
#include <sinter/nn.hpp>

namespace sn = sinter;
namespace nn = sinter::nn;
using namespace sn::literals;

auto f(const nn::Sequential<nn::Linear, nn::ReLU>& net) {
#ifdef OK
  return net[0_c];
#else
  return net[2_c];
#endif
}
