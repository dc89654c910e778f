// expect: members takes a name before each member: members("fc1", fc1)
#include <sinter/nn.hpp>

namespace nn = sinter::nn;

struct Net : nn::Module<Net> {
  nn::Linear fc{3, 1};
#ifdef OK
  nn::Members members() { return nn::members("fc", fc); }
#else
  nn::Members members() { return nn::members(fc); }
#endif
};
