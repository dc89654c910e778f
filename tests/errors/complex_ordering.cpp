// expect: this operation takes no complex numbers: take real(z), imag(z), abs(z) or angle(z) first
// lines: g++ 11 clang 16
#include <sinter/sinter.hpp>

void use(const sinter::Tensor<std::complex<float>>& z) {
#ifdef OK
  sinter::Tensor r = sinter::abs(z) < 1;
#else
  sinter::Tensor r = z < 1;
#endif
}
