// expect: a loop over rows needs them in memory: Tensor y = x + 1; for (auto row : y)
// lines: g++ 10 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float>& x) {
#ifdef OK
  sn::Tensor y = x + 1;
  for (auto row : y) row += 1;
#else
  for (auto row : x + 1) static_cast<void>(row.sum());
#endif
}
