// expect: a real dtype has no imaginary part: take real(z), or abs(z) for the magnitude
// lines: g++ 10 clang 13
#include <sinter/sinter.hpp>

void use(const sinter::Tensor<std::complex<float>>& z) {
#ifdef OK
  sinter::Tensor r = sinter::cast<int>(sinter::real(z * 2));
#else
  sinter::Tensor r = sinter::cast<int>(z * 2);
#endif
}
