// The C++ column of docs/coming-from.md: every piece of code there is a line, or a part of a line, of this program.
#include <iostream>
#include <sinter/nn.hpp>
#include <sinter/sinter.hpp>
#include <vector>

namespace sn = sinter;
namespace nn = sinter::nn;

namespace {

void from_pytorch() {
  auto x = sn::zeros({2, 3});
  auto device = sn::try_gpu();
  auto there = x.to(device);
  sn::Tensor y = x + 1;
  x(sn::range(), 2) = 5;
  x[0] = y[1];
  y += x;
  sn::Tensor s = x.softmax(-1);
  sn::Tensor total = x.sum({0, 1}, sn::keepdim);
  auto [values, indices] = x.max(1);
  auto a = x.accessor<2>();
  float number = x.sum().item();
  auto layer = nn::Linear(3, 1);
  sn::Tensor out = layer(x);
  auto w = layer.weight;
  auto gw = sn::grad(layer(x).square().mean(), w);
  std::cout << there.shape() << out.shape() << s.shape() << total << values << indices << a(0, 0) << number
            << gw.shape() << "\n";
}

void from_eigen() {
  auto x = sn::linspace(0, 1, 5);
  auto A = sn::zeros({2, 3});
  auto B = sn::ones({3, 2}), C = sn::ones({2, 3});
  auto v = sn::tensor({1.f, 2.f, 3.f}), u = sn::tensor({10.f, 20.f});
  A(1, 2) = 5;
  float element = A(1, 2).item();
  A[1] = v;
  sn::Tensor product = sn::matmul(A, B);
  sn::Tensor elementwise = A * C;
  sn::Tensor transposed = A.t();
  A(sn::range(0, 2), sn::range(1, 3)) += 1;
  sn::Tensor of_rows = A.sum(1), of_columns = A.mean(0);
  sn::Tensor added = A + v;
  sn::Tensor to_columns = A + u.unsqueeze(1);
  auto largest = x.amax();
  auto where = x.argmax();
  sn::Tensor chosen = sn::where(x > 0.5, x, 0);
  sn::Tensor limited = sn::maximum(x, 0.5);
  sn::Tensor wide = A.to<double>();
  sn::Tensor norm = sn::norm(A);
  std::vector<float> memory(6);
  auto map = sn::from_blob(memory.data(), {2, 3});
  map += 1;
  std::cout << element << "\n"
            << product << elementwise.shape() << transposed.shape() << of_rows << of_columns << "\n"
            << added << to_columns << "\n"
            << largest << where << chosen << limited << wide.shape() << norm.shape() << memory[5] << "\n";
}

}  // namespace

int main() {
  from_pytorch();
  from_eigen();
}
