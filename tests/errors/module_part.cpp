// expect: a Sequential is made of modules: nn::ReLU() where relu is meant
#include <sinter/nn.hpp>

namespace sn = sinter;
namespace nn = sinter::nn;

void f() {
#ifdef OK
  nn::Sequential net(nn::Linear(3, 1), nn::ReLU());
#else
  nn::Sequential net(nn::Linear(3, 1), sn::relu);
#endif
}
