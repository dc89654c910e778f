// Matrix products with other operations: a layer, and attention.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  // [layer]
  auto x = sn::tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}).cuda();
  auto weight = sn::tensor({{1.f, 0.f, 2.f}, {0.f, 1.f, -1.f}}).cuda(), bias = sn::tensor({0.5f, -0.5f}).cuda();
  auto layer = sn::relu(sn::matmul(x, weight.t()) + bias);  // an expression: the product, and one kernel
  std::cout << layer << "\n";
  // [/layer]

  // [attention]
  auto scores = sn::softmax(sn::matmul(x, x.t()) / 10, -1);
  sn::Tensor mixed = sn::matmul(scores, x);
  std::cout << mixed << "\n";
  // [/attention]

  // [batch]
  auto batch = sn::ones({4, 1, 2, 3}, sn::cuda<>), others = sn::ones({5, 3, 7}, sn::cuda<>);
  std::cout << sn::to_string(sn::shape_of(sn::matmul(batch, others))) << "\n";
  std::cout << sn::matmul(x, sn::tensor({1.f, 0.f, -1.f}).cuda())
            << "\n";  // a vector is a column, and its axis is dropped
  // [/batch]

  // [shapes]
  try {
    std::cout << sn::matmul(x, weight) << "\n";
  } catch (const sn::ShapeError& error) {
    std::cout << error.what() << "\n";
  }
  // [/shapes]
}
