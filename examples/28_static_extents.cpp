// Extents in the types of tensors: shapes that do not go together do not compile.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

// [model]
using sn::dyn, sn::Extents;
template <std::int64_t... E>
using Matrix = sn::Tensor<float, sn::Cpu, Extents<E...>>;

/// Class probabilities (batch, 10) of images (batch, 784).
auto classify(const Matrix<dyn, 784>& images, const Matrix<784, 32>& w1, const Matrix<32, 10>& w2) {
  auto hidden = images.matmul(w1).relu();  // Extents<dyn, 32>
  return hidden.matmul(w2).softmax(1);     // Extents<dyn, 10>; matmul(w1) would not compile
}
// [/model]

int main() {
  // [use]
  Matrix<784, 32> w1 = sn::ones<float>({784, 32}) / 784;  // an expression: its shape is checked when it is evaluated
  Matrix<32, 10> w2 = sn::arange(320).to<float>().reshape({32, 10}) / 320;
  Matrix<dyn, 784> images(sn::ones<float>({3, 784}));  // a tensor without extents: explicit, as from AnyDevice to Cpu

  sn::Tensor probabilities = classify(images, w1, w2);  // Extents<dyn, 10>, deduced
  static_assert(std::is_same_v<sn::extents_of<decltype(probabilities)>, Extents<dyn, 10>>);
  std::cout << probabilities.argmax(1) << " " << probabilities.shape() << "\n";
  try {
    images = sn::ones<float>({3, 783}) * 2;
  } catch (const sn::ShapeError& error) {
    std::cout << error.what() << "\n";
  }
  // [/use]
}
