// expect: the tensor has another dtype: convert it with cast<T>(x) or x.to<T>()
// lines: g++ 8 clang 12
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

void f(const sn::Tensor<float, sn::Cpu>& x) {
#ifdef OK
  sn::Tensor<double, sn::Cpu> r = x.to<double>();
#else
  sn::Tensor<double, sn::Cpu> r = x;
#endif
}
