// Reductions as parts of expressions: softmax, a normalization layer, a loss.
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  // [reduce]
  auto x = sn::tensor({{1.f, 2.f, 4.f}, {3.f, 0.f, -1.f}}).cuda();
  std::cout << x.sum() << " " << x.mean(0) << " " << sn::amax(x, -1, sn::keepdim) << "\n";
  auto [values, indices] = sn::max(x, 1);  // evaluated together
  std::cout << values << "\n" << indices << "\n";
  // [/reduce]

  // [softmax]
  auto scale = 0.5f;
  sn::Tensor weights = sn::softmax(x * scale, -1);  // one kernel
  std::cout << weights << "\n";
  // [/softmax]

  // [norm]
  auto weight = sn::tensor({1.f, 2.f, 1.f}).cuda();
  auto centred = x - sn::mean(x, -1, sn::keepdim);
  sn::Tensor by_hand = centred * sn::rsqrt(sn::var(x, -1, 0, sn::keepdim) + 1e-5) * weight;
  sn::Tensor y = sn::layer_norm(x, {3}, weight);  // the same
  std::cout << y << "\n" << sn::allclose(y, by_hand) << "\n";
  // [/norm]

  // [loss]
  auto target = sn::tensor({2, 0}).cuda();
  std::cout << sn::cross_entropy(x, target) << "\n";
  std::cout << sn::cross_entropy(x, target, sn::loss::label_smoothing(0.1), sn::reduction::none) << "\n";
  // [/loss]

  // [axes]
  try {
    (void)sn::sum(x, 2);
  } catch (const sn::IndexError& error) {
    std::cout << error.what() << "\n";
  }
  // [/axes]
}
