// expect: index_select(x, axis, indices)
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<std::int64_t, sn::Cpu>& i) {
#ifdef OK
  auto e = x.index_select(1, i) + x[i](sn::range(), 1);
#else
  auto e = x(sn::range(), i);
#endif
}
