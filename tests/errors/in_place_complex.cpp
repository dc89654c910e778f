// expect: a real dtype has no imaginary part: take real(z), or abs(z) for the magnitude
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(sn::Tensor<float, sn::Cpu>& x, const sn::Tensor<std::complex<float>, sn::Cpu>& z) {
#ifdef OK
  x += z.real();
#else
  x += z;
#endif
}
