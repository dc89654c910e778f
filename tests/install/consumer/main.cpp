#include <cmath>
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;
using namespace sn::literals;

int main() {
  const auto x = sn::tensor({1.f, 2.f, 3.f});
  const sn::Tensor r = (x + 2).exp() * x.pow(2_c);
  std::cout << r << "\n";
  return std::abs(r.to_vector()[0] - std::exp(3.f)) < 1e-4f ? 0 : 1;
}
