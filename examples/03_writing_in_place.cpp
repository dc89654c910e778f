// Assigning to a name rebinds it; assigning to a part of a tensor writes into the tensor.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  // [views]
  auto x = sn::zeros({3, 4}, sn::cuda<>);
  x[1] = 5;                                                // a row
  x(sn::range(), 3) = sn::tensor({1.f, 2.f, 3.f}).cuda();  // a column
  x(sn::range(0, 2), sn::range(0, 2)) += 0.5;              // a block
  std::cout << x << "\n";
  // [/views]

  // [whole]
  auto y = x;       // the same storage
  y += 1;           // x sees it
  y.assign(y * 2);  // this one as well
  std::cout << x[0] << "\n";
  y = y * 0;  // a new tensor: x keeps its values
  std::cout << x[0] << "\n";
  // [/whole]

  // [together]
  auto a = sn::tensor({1.f, 2.f}), b = sn::tensor({10.f, 20.f});
  sn::evaluate(sn::into(a, b), sn::into(b, a));  // everything is read before anything is written
  std::cout << a << " " << b << "\n";
  // [/together]

  // [lossy]
  auto mask = sn::tensor({true, false});
  try {
    mask += 2;
  } catch (const sn::DTypeError& error) {
    std::cout << error.what() << "\n";
  }
  // [/lossy]
}
