// Views of expressions, joining, and gathers.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  auto x = sn::arange(6).to<float>().reshape({2, 3}).cuda();
  auto bias = sn::tensor({10.f, 20.f, 30.f}).cuda();

  // [views]
  auto e = x * 2 + bias;                                  // nothing runs
  std::cout << e.t() << "\n";                             // nor here: the same expression over views of x and bias
  std::cout << e[1].flip(0) + e(0, sn::range()) << "\n";  // one kernel
  std::cout << sn::cat(0, e, -x) << "\n";                 // each part is computed at its place in the result
  std::cout << sn::stack({x[0], x[1]}, 1).shape() << "\n";
  // [/views]

  // [indices]
  auto weight = sn::arange(12).to<float>().reshape({4, 3}).cuda();
  auto ids = sn::tensor({{3, 0}, {-1, 1}}).cuda();
  sn::Tensor embedded = sn::embedding(weight, ids) * 0.5 + bias;  // one kernel
  std::cout << embedded << "\n";
  std::cout << sn::gather(x, 1, sn::tensor({{2, 0}, {1, 1}}).cuda()) << "\n";
  std::cout << sn::one_hot(sn::tensor({2, 0}), 3) << "\n";
  try {
    std::cout << weight.cpu()[sn::tensor({1, 4})] << "\n";
  } catch (const sn::IndexError& error) {
    std::cout << error.what() << "\n";
  }
  // [/indices]
}
