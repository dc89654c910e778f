// expect: a module lists its members: nn::Members members() { return nn::members("fc1", fc1); }
// lines: g++ 11 clang 18
#include <sinter/nn.hpp>

namespace nn = sinter::nn;

struct Net : nn::Module<Net> {
  nn::Linear fc{3, 1};
#ifdef OK
  nn::Members members() { return nn::members("fc", fc); }
#endif
};

auto f(const Net& net) { return net.parameters(); }
