// expect: name a repeated part with sinter::let
// lines: g++ 13 clang 23
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
  auto y0 = x * x + x;
  auto y1 = y0 * y0 + y0;
  auto y2 = y1 * y1 + y1;
  auto y3 = y2 * y2 + y2;
  auto z = y3 * x;
#ifdef OK
  auto e = sn::let(z, [](auto v) { return v * v + v; });
#else
  auto e = z * z + z * z;
#endif
}
