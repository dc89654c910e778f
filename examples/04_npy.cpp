// NumPy's files in and out.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  // [round trip]
  sn::save_npy("numbers.npy", sn::arange(6).reshape({2, 3}).cuda() * 0.5);
  auto x = sn::load_npy<float>("numbers.npy");              // Tensor<float, Cpu>
  auto y = sn::load_npy<float>("numbers.npy", sn::cuda<>);  // straight to a GPU
  std::cout << x << "\n" << y.sqrt() << "\n";
  // [/round trip]

  // [any]
  sn::AnyTensor any = sn::load_npy("numbers.npy");  // the file determines the dtype
  std::cout << sn::name(any.dtype()) << " " << any.dim() << "\n";
  sn::Tensor<double> doubled = any.to<double>() * 2;
  std::cout << doubled << "\n";
  // [/any]

  // [wrong]
  try {
    sn::load_npy<std::int64_t>("numbers.npy");
  } catch (const sn::DTypeError& error) {
    std::cout << error.what() << "\n";
  }
  // [/wrong]
}
