// expect: after its operands this loss takes loss::weight(w), loss::ignore_index(i), loss::label_smoothing(s)
// lines: g++ 9 clang 12
#include <cstdint>

#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<std::int64_t, sn::Cpu>& classes) {
#ifdef OK
  static_cast<void>(sn::cross_entropy(x, classes, sn::loss::weight(x[0])));
#else
  static_cast<void>(sn::cross_entropy(x, classes, x[0]));
#endif
}
