// expect: convert floats with cast<std::int64_t>(i)
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<float, sn::Cpu>& i) {
#ifdef OK
  auto e = sn::take(x, sn::cast<std::int64_t>(i));
#else
  auto e = sn::take(x, i);
#endif
}
