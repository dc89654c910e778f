// expect: an expression cannot be written to, nor can elements that an index selects
// lines: g++ 10 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(sn::Tensor<float, sn::Cpu> x, const sn::Tensor<std::int64_t, sn::Cpu>& indices) {
#ifdef OK
  x[1] = 5;
  static_cast<void>(indices);
#else
  x[indices] = 5;
#endif
}
