// expect: the operands are on different devices: move one with .to(device), .cuda() or .cpu()
// expect: Cpu
// expect: Cuda<0>
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cuda<0>>& x, const sn::Tensor<std::int64_t, sn::Cpu>& i) {
#ifdef OK
  sn::Tensor e = x[i.to(sn::cuda<0>)];
#else
  sn::Tensor e = x[i];
#endif
}
