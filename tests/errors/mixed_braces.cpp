// expect: braces of several types, or of nothing, need a dtype: tensor<float>({1.5, 2})
// lines: g++ 9 clang 12
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f() {
#ifdef OK
  auto x = sn::tensor<float>({1.5, 2});
#else
  auto x = sn::tensor({1.5, 2});
#endif
}
