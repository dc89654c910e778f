// expect: x[indices] = v is x.index_put_(indices, v)
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
