// expect: sn::tensor(values) makes a tensor of a vector or of braces
// lines: g++ 9 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

#include <vector>

void f(sn::Tensor<float>& x, const std::vector<float>& v) {
#ifdef OK
  x[0] = sn::tensor(v);
#else
  x[0] = v;
#endif
}
