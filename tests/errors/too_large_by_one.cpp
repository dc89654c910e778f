// expect: name a repeated part with sinter::let
// lines: g++ 30 clang 40
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

template <int Steps, class E>
auto grown(const E& e) {
  if constexpr (Steps == 1)
    return e + 1;
  else
    return grown<Steps / 2>(grown<Steps - Steps / 2>(e));
}

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  auto e = grown<256>(x);
#else
  auto e = grown<257>(x);
#endif
}
