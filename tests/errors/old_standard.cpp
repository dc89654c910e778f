// expect: Sinter needs C++20: compile with -std=c++20
// lines: g++ 12 clang 12
// options: -std=c++17
#include <sinter/nn.hpp>

void f() { sinter::nn::Linear layer(3, 1); }
