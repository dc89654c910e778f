// expect: convert floats with cast<std::int64_t>(i)
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<float, sn::Cpu>& i) {
#ifdef OK
  x.scatter_(0, sn::cast<std::int64_t>(i), 0);
#else
  x.scatter_(0, i, 0);
#endif
}
