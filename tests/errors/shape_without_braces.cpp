// expect: a shape is written in braces: ones({2, 3}); a GPU by its number is sn::Device(1)
// lines: g++ 12 clang 15
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f() {
#ifdef OK
  auto e = sn::ones({2, 1});
#else
  auto e = sn::ones(2, 1);
#endif
}
