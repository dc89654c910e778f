// Logging the loss of every step: read immediately, it makes the host wait for the GPU; kept on the GPU, it does not.
#include <iomanip>
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

constexpr int steps = 20;

/// A linear regression on a device: 100 rows of 2 features, and weights that are initially 0.
struct Regression {
  sn::Tensor<float, sn::AnyDevice> x, y, weight;

  explicit Regression(sn::Device device) : weight(sn::zeros({2}, device)) {
    sn::manual_seed(1);
    const auto rows = sn::randn({100, 2});
    x = rows.to(device);
    y = sn::Tensor<float>(sn::matmul(rows, sn::tensor({2.f, -3.4f}))).to(device);
  }

  /// One step of gradient descent; the loss before it, a tensor on the device.
  sn::Tensor<float, sn::AnyDevice> step() {
    const sn::Tensor<float, sn::AnyDevice> error = sn::matmul(x, weight) - y;
    weight -= 0.1 * sn::matmul(x.t(), error) * (2.0 / 100);
    return (error * error).mean();
  }
};

int main() {
  const sn::Device device = sn::try_gpu();
  std::cout << std::fixed << std::setprecision(2);

  // [every]
  Regression one(device);
  auto before = sn::jit_stats().waits;
  std::cout << "read at every step:\n ";
  for (int i = 0; i < steps; ++i) std::cout << " " << one.step().item();  // waits until the GPU is done
  std::cout << "\n  waits of the host: " << sn::jit_stats().waits - before << "\n";
  // [/every]

  // [bulk]
  Regression other(device);
  const auto losses = sn::zeros({steps}, device);  // stays on the device
  before = sn::jit_stats().waits;
  for (int i = 0; i < steps; ++i) losses[i].copy_(other.step());  // queued; the host does not wait
  const auto log = losses.cpu();                                  // one copy for all
  std::cout << "kept on the device, moved in bulk:\n ";
  for (int i = 0; i < steps; ++i) std::cout << " " << log[i].item();
  std::cout << "\n  waits of the host: " << sn::jit_stats().waits - before << "\n";
  // [/bulk]
}
