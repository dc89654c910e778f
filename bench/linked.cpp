// A program that has Sinter linked and, when asked, uses it on the CPU.
#include <sinter/sinter.hpp>

int main(int argc, char**) {
  if (argc == 1) return 0;
  const auto x = sinter::tensor({1.f, 2.f, 3.f});
  const sinter::Tensor r = (x + 2).exp() * x;
  return r.numel() == 3 ? 0 : 1;
}
