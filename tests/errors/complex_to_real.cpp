// expect: a real dtype has no imaginary part: take real(z), or abs(z) for the magnitude
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

void use(const sinter::Tensor<std::complex<float>>& z) {
#ifdef OK
  sinter::Tensor r = z.real().to<double>();
#else
  sinter::Tensor r = z.to<double>();
#endif
}
