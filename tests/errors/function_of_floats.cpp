// expect: the lambda of a function takes as many operands as the call, of any type, and returns an expression of them
// lines: g++ 11 clang 18
#include <sinter/sinter.hpp>

namespace sn = sinter;

#ifdef OK
const sn::function doubled([](auto x) { return x * 2; });
#else
const sn::function doubled([](float x) { return x * 2; });
#endif
auto f(const sn::Tensor<float>& x) { return doubled(x); }
