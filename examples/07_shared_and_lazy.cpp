// Parts that are used twice, several results, and expressions that are built at run time.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

// [function]
// A function of your own: every operand is computed once, and a call is part of the kernel.
inline constexpr sn::function swish([](auto x, auto beta) { return x * sn::sigmoid(beta * x); });
// [/function]

int main() {
  const auto x = sn::tensor({1.f, 2.f, 3.f, 4.f}).cuda();

  // [let]
  // A part that is used twice occurs twice in the type, although it is computed once; let keeps the type short.
  sn::Tensor r = sn::let((x + 1).log(), [](const auto& part) { return part * part - part; });
  std::cout << r << "\n";
  // [/let]

  // [call]
  sn::Tensor s = swish(x - 2, 1.5) * x;
  std::cout << s << "\n";
  // [/call]

  // [several]
  auto [sum, product] = sn::evaluate(x + 1, x * 2);  // one kernel, both results
  std::cout << sum << "\n" << product << "\n";
  // [/several]

  // [lazy]
  sn::Lazy power = x;  // its type does not grow, so a loop may build on it
  for (int i = 0; i < 3; ++i) power = power * x + 1;
  std::cout << sn::explain(power) << power << "\n";
  // [/lazy]

  // [eager]
  sn::Tensor step_by_step = sn::eager((x + 1).log() * x);  // one kernel for each operation: the baseline
  std::cout << sn::allclose(step_by_step, (x + 1).log() * x) << "\n";
  // [/eager]
}
