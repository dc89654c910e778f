// Recipes of docs/cookbook.md that work on one device: rows, masks, distances, statistics, gradients, dtypes.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <sinter/sinter.hpp>

namespace sn = sinter;

// [custom]
// A leaky hinge: two formulas, chosen for each element.
inline constexpr sn::function hinge([](auto x, auto slope) { return sn::where(x > 1, x - 1, slope * (x - 1)); });
// [/custom]

int main() {
  const auto x = sn::tensor({{1.f, 2.f, 4.f}, {3.f, 0.f, -1.f}}).cuda();

  {
    // [activation]
    const auto bias = sn::tensor({0.5f, -0.5f, 0.f}).cuda();
    sn::Tensor y = sn::gelu(x + bias);  // one kernel: the sum is never stored
    std::cout << y << "\n";
    // [/activation]
  }
  {
    // [normalize]
    auto centered = x - x.mean(-1, sn::keepdim);
    sn::Tensor y = centered / (sn::std(x, -1, 0, sn::keepdim) + 1e-5);  // each row: mean 0, deviation 1
    std::cout << y << "\n";
    // [/normalize]
  }
  {
    // [softmax]
    auto e = (x - sn::amax(x, -1, sn::keepdim)).exp();  // less the largest, so that exp does not overflow
    sn::Tensor p = e / e.sum(-1, sn::keepdim);          // one kernel
    std::cout << p << "\n" << sn::allclose(p, sn::softmax(x, -1)) << "\n";
    // [/softmax]
  }
  {
    // [masked mean]
    auto mask = x > 0;
    sn::Tensor mean = sn::where(mask, x, 0).sum(-1) / sn::count_nonzero(mask, -1);
    std::cout << mean << "\n";
    // [/masked mean]
  }
  {
    // [distances]
    const auto centers = sn::tensor({{1.f, 1.f, 1.f}, {3.f, 0.f, 0.f}}).cuda();
    auto squared = (x.unsqueeze(1) - centers).square().sum(-1);  // (2, 1, 3) - (2, 3): the differences are not stored
    auto [distance, nearest] = squared.sqrt().min(-1);
    std::cout << distance << " " << nearest << "\n";
    // [/distances]
  }
  {
    // [running]
    // Mean and variance of all batches so far, updated by one kernel for each batch (Chan et al.).
    auto mean = sn::zeros({3}, sn::cuda<>), m2 = sn::zeros({3}, sn::cuda<>);
    float count = 0;
    for (const sn::Tensor<float, sn::Cuda<>>& batch : {x, sn::Tensor(x * 2), sn::Tensor(x - 1)}) {
      const auto rows = static_cast<float>(batch.size(0));
      auto delta = batch.mean(0) - mean;
      const float all = count + rows;
      sn::evaluate(sn::into(mean, mean + delta * (rows / all)),
                   sn::into(m2, m2 + sn::var(batch, 0, 0) * rows + delta.square() * (count * rows / all)));
      count = all;
    }
    std::cout << mean << " " << m2 / count << "\n";
    // [/running]
  }
  {
    // [histogram]
    const auto values = sn::tensor({0.1f, 0.35f, 0.3f, 0.9f, 0.95f}).cuda();
    auto bins = sn::zeros<std::int64_t>({4}, sn::cuda<>);
    auto bin = (values * 4).to<std::int64_t>().clamp(0, 3);
    bins.scatter_add_(0, bin, sn::ones_like<std::int64_t>(values));
    std::cout << bins << "\n";
    // [/histogram]
  }
  {
    // [custom use]
    sn::Tensor y = hinge(x * 2, 0.1) + 1;  // part of the kernel around it
    std::cout << y << "\n";
    // [/custom use]
  }
  {
    // [gradient]
    // Least squares by gradient descent: y = 2 a - 1.
    const auto a = sn::tensor({0.f, 1.f, 2.f, 3.f}).cuda();
    const auto y = a * 2 - 1;
    auto w = sn::zeros({}, sn::cuda<>), b = sn::zeros({}, sn::cuda<>);
    for (int step = 0; step < 200; ++step) {
      auto loss = (a * w + b - y).square().mean();
      auto [gw, gb] = sn::grad(loss, w, b);
      sn::evaluate(sn::into(w, w - gw * 0.1), sn::into(b, b - gb * 0.1));  // both are computed, then both are written
    }
    std::cout << std::lround(w.item() * 100) << " " << std::lround(b.item() * 100) << "\n";
    // [/gradient]
  }
  {
    // [mixed]
    // Half the memory traffic: stored in 16 bits, computed in float32, rounded once at the end.
    const sn::Tensor h = x.to<sn::half>();
    sn::Tensor y = (h + 2).exp() * h;
    std::cout << y << "\n" << sn::Tensor(y.to<float>().sum()) << "\n";  // the conversion is part of the sum's kernel
    // [/mixed]
  }
}
