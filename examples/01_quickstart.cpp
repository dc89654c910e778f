// Tensors, an expression, one kernel.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  // [example]
  auto x = sn::tensor({1.f, 2.f, 3.f});  // Tensor<float, Cpu>
  auto z = x.cuda(), y = x.cuda();       // Tensor<float, Cuda<>>: copies on the GPU
  auto e = (z + 2).exp() * y;            // nothing runs yet: e is a typed tree
  sn::Tensor r = e;                      // one kernel, compiled once, cached
  std::cout << r << "\n";
  // [/example]

  // [cpu]
  sn::Tensor c = (x + 2).exp() * x;  // the same on the CPU: SIMD loops instead of a CUDA kernel
  std::cout << c << "\n";
  // [/cpu]

  // [broadcast]
  auto rows = sn::arange(3).reshape({3, 1});      // int64, shape (3, 1)
  auto columns = sn::tensor<double>({0.5, 1.5});  // shape (2)
  sn::Tensor table = sn::where(rows > 0, rows * columns, -1);
  std::cout << table << "\n";  // shape (3, 2), float64: promotion and broadcasting as in PyTorch
  // [/broadcast]
}
