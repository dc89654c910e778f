// expect: a real dtype has no imaginary part: take real(z), or abs(z) for the magnitude
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  x.masked_fill_(x < 0, 2);
#else
  x.masked_fill_(x < 0, std::complex<float>(1, 2));
#endif
}
