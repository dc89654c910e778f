// expect: emplate
// lines: g++ 15 clang 13
#include <sinter/sinter.hpp>

namespace sn = sinter;

#ifdef OK
float f(const sn::Tensor<float>& x) { return x.item(); }
#else
float f(const sn::Tensor& x) { return x.item(); }
#endif
