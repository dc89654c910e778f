// Random numbers that are the same on every device, and how tensors are printed.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  // [random]
  sn::manual_seed(7);
  auto noise = sn::rand({2, 3}, sn::cuda<>);  // uniform in [0, 1)
  sn::manual_seed(7);
  std::cout << sn::equal(noise.cpu(), sn::rand({2, 3})) << "\n";  // the same bits on every device
  sn::Tensor dice = sn::randint(1, 7, {1000});                    // int64, 1 to 6
  std::cout << dice.numel() << " " << sn::name(dice.dtype()) << "\n";
  sn::Tensor kept = sn::dropout(noise * 2, 0.25).sqrt();  // drawn in the kernel that uses them
  std::cout << kept.shape() << "\n";
  // [/random]

  // [printing]
  auto wide = sn::arange(2000) / 3.;
  std::cout << wide << "\n";  // beyond 1000 elements the middle is omitted
  sn::set_printoptions({.precision = 1, .threshold = 5, .edgeitems = 2});
  std::cout << wide << "\n";
  // [/printing]
}
