// Gradients and training.
#include <iomanip>
#include <iostream>
#include <sinter/nn.hpp>
#include <sinter/optim.hpp>

namespace sn = sinter;
namespace nn = sinter::nn;

int main() {
  // [grad]
  auto x = sn::tensor({1.f, 2.f, 3.f});
  auto w = sn::tensor({0.5f, -0.5f, 0.25f});
  auto loss = (sn::tanh(w * x) - 1).square().sum();
  auto gw = sn::grad(loss, w);  // an expression: nothing runs yet
  std::cout << gw << "\n";
  auto [value, gx, g] = sn::value_and_grad(loss, x, w);
  auto [l, dx, dw] = sn::evaluate(value, gx, g);  // together: one kernel
  std::cout << l << " " << dx << "\n";
  std::cout << sn::grad(gw.square().sum(), w) << "\n";  // through the second derivative
  // [/grad]

  // [errors]
  auto other = sn::tensor({1.f});
  try {
    auto unused = sn::grad(loss, other);
  } catch (const sn::Error& error) {
    std::cout << error.what() << "\n";
  }
  // [/errors]

  // [linear regression]
  sn::manual_seed(0);
  const sn::Tensor features = sn::randn({1000, 2});
  const sn::Tensor labels = sn::matmul(features, sn::tensor({2.f, -3.4f})) + 4.2 + 0.01 * sn::randn({1000});
  auto weight = sn::zeros({2}), bias = sn::zeros({1});
  sn::optim::SGD optimizer({weight, bias}, {.lr = 0.3});
  for (int epoch = 0; epoch < 20; ++epoch) {
    auto error = sn::matmul(features, weight) + bias - labels;
    auto mse = optimizer.step(error.square().mean());  // forward and backward pass together, then the update
    if (epoch % 5 == 4) std::cout << "epoch " << epoch + 1 << ", loss " << std::setprecision(3) << mse.item() << "\n";
  }
  std::cout << weight << " " << bias << "\n";
  // [/linear regression]

  // [network]
  nn::Sequential net(nn::Linear(2, 16), nn::Tanh(), nn::Linear(16, 2));
  const sn::Tensor classes = sn::cast<std::int64_t>(features.square().sum(1) > 1.4f);  // inside or outside of a circle
  sn::optim::AdamW adam(net.parameters(), {.lr = 0.05});
  for (int epoch = 0; epoch < 100; ++epoch) {
    adam.set_lr(sn::optim::cosine_decay(0.05, epoch, 100));
    (void)adam.step(sn::cross_entropy(net(features), classes));
  }
  const sn::Tensor right = sn::cast<float>(sn::argmax(net(features), 1) == classes);
  std::cout << "accuracy " << (right.mean().item() > 0.97f ? "above" : "below") << " 97 %\n";
  // [/network]
}
