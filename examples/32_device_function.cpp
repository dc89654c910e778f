// Functions written in C, called in expressions.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

// [function]
// The steps after which a point leaves the circle of radius 2: a loop, which tensor operations cannot express.
const sn::device_function<std::int32_t(float, float)> steps("steps", R"(
  float x = 0, y = 0;
  int n = 0;
  for (; n < 50 && x * x + y * y < 4; ++n) {
    const float next = x * x - y * y + a;
    y = 2 * x * y + b;
    x = next;
  }
  return n;)");
// [/function]

// [derivatives]
// For each parameter the derivative with respect to it, times g, the gradient of the result.
const sn::device_function<float(float, float)> leaky("leaky", "return a > 0 ? a : a * b;",
                                                     {"return a > 0 ? g : b * g;", "return a > 0 ? 0 : a * g;"});
// [/derivatives]

int main() {
  // [call]
  auto re = sn::linspace(-2.f, 0.5f, 6).cuda(), im = sn::linspace(-1.f, 1.f, 5).cuda().reshape({5, 1});
  sn::Tensor picture = sn::minimum(steps(re, im), 9);  // one kernel, in which the operands broadcast
  std::cout << picture << "\n";
  // [/call]

  // [gradient]
  auto x = sn::tensor({-2.f, -1.f, 3.f});
  sn::Tensor by_x = sn::grad(sn::sum(leaky(x, 0.1) * x), x);
  std::cout << by_x << "\n";
  // [/gradient]

  // [text]
  // A whole definition; expressions as text call it by its name.
  sn::define_function("float cut(float x, int most) { return x > most ? most : x; }");
  std::cout << sn::parse("cut(x, 1) + 1", {{"x", x}}) << "\n";
  // [/text]
}
