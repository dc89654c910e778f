// expect: complex numbers have no order: take real(z), imag(z) or abs(z) first
// lines: g++ 8 clang 12
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<std::complex<float>, sn::Cpu>& z) {
#ifdef OK
  auto [values, indices] = z.abs().topk(2);
#else
  auto [values, indices] = z.topk(2);
#endif
}
