// expect: sn::tensor(values) makes a tensor of a vector or of braces
// lines: g++ 9 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

#include <vector>

auto f(const std::vector<float>& v) {
#ifdef OK
  return sn::exp(sn::tensor(v));
#else
  return sn::exp(v);
#endif
}
