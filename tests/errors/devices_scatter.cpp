// expect: the operands are on different devices: move one with .to(device), .cuda() or .cpu()
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<std::int64_t, sn::Cuda<0>>& i) {
#ifdef OK
  x.index_put_({i.cpu()}, 1);
#else
  x.scatter_(0, i, 1);
#endif
}
