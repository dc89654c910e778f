// expect: nodiscard
// lines: g++ 10 clang 12
#include <sinter/nn.hpp>

namespace sn = sinter;
namespace nn = sinter::nn;

#pragma GCC diagnostic error "-Wunused-result"
void f(nn::Linear& layer) {
#ifdef OK
  layer.to_(sn::cuda<0>);
#else
  layer.to(sn::cuda<0>);
#endif
}
