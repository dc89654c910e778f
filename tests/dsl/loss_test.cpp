// Losses against PyTorch's table.
#include "devices.hpp"

#include <gmock/gmock.h>

#include "torch_results.hpp"

namespace sn = sinter;
using sinter_tests::message_of;
using testing::HasSubstr;

namespace {

class Loss : public testing::TestWithParam<sn::Device> {
 protected:
  sn::Device d = GetParam();
  sinter_tests::TorchResults torch{d};
  sn::Tensor<float> x = torch["x"], y = torch["y"], p = torch["p"], z = torch["z"], w = torch["w5"];
  sn::Tensor<std::int64_t> classes = torch.operator[]<std::int64_t>("classes");

  /// Each reduction of a loss: `call(kind)` makes it.
  template <class F>
  void each(const std::string& name, F call) {
    torch.expect(name + " none", call(sn::reduction::none));
    torch.expect(name + " mean", call(sn::reduction::mean));
    torch.expect(name + " sum", call(sn::reduction::sum));
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Loss, testing::ValuesIn(sinter_tests::devices()), [](const auto& device) {
  return device.param.is_cuda() ? "cuda" + std::to_string(device.param.index()) : "cpu";
});

/// The class's own score is found in the pass of the maximum and the exponentials.
TEST_P(Loss, CrossEntropyReadsALongRowOnce) {
  if (d.is_cpu()) return;
  const sn::Tensor<float> scores = sn::zeros<float>({2, 70000}).to(d);
  const sn::Tensor<std::int64_t> target = sn::zeros<std::int64_t>({2}).to(d);
  EXPECT_THAT(sn::explain(sn::cross_entropy(scores, target)), HasSubstr("1 pass over each"));
}

TEST_P(Loss, OfEachElement) {
  each("mse_loss", [&](auto kind) { return sn::mse_loss(x, y, kind); });
  each("l1_loss", [&](auto kind) { return sn::l1_loss(x, y, kind); });
  each("huber_loss", [&](auto kind) { return sn::huber_loss(x, y, 0.7, kind); });
  each("smooth_l1_loss", [&](auto kind) { return sn::smooth_l1_loss(x, y, 0.7, kind); });
  torch.expect("mse_loss mean", sn::mse_loss(x + 0, y * 1));
  for (const char* loss : {"mse", "l1", "huber", "smooth"}) EXPECT_EQ(torch.left_out(loss), "");
}

TEST_P(Loss, OfProbabilities) {
  each("binary_cross_entropy", [&](auto kind) { return sn::binary_cross_entropy(p, z, kind); });
  each("binary_cross_entropy weight",
       [&](auto kind) { return sn::binary_cross_entropy(p, z, sn::loss::weight(w), kind); });
  each("binary_cross_entropy_with_logits", [&](auto kind) { return sn::binary_cross_entropy_with_logits(x, z, kind); });
  each("binary_cross_entropy_with_logits weights", [&](auto kind) {
    return sn::binary_cross_entropy_with_logits(x, z, kind, sn::loss::weight(w), sn::loss::pos_weight(torch["b5"]));
  });
  EXPECT_EQ(torch.left_out("binary"), "");
}

TEST_P(Loss, OfLogarithmsOfProbabilities) {
  const auto cube = torch["cube"], w3 = torch["w3"];
  const auto cells = torch.operator[]<std::int64_t>("cells");
  each("nll_loss", [&](auto kind) { return sn::nll_loss(x, classes, kind); });
  each("nll_loss weight", [&](auto kind) { return sn::nll_loss(x, classes, sn::loss::weight(w), kind); });
  each("nll_loss cells",
       [&](auto kind) { return sn::nll_loss(cube, cells, kind, sn::loss::ignore_index(2), sn::loss::weight(w3)); });
  EXPECT_EQ(torch.left_out("nll"), "");
}

TEST_P(Loss, OfScores) {
  each("cross_entropy", [&](auto kind) { return sn::cross_entropy(x, classes, kind); });
  each("cross_entropy weight", [&](auto kind) { return sn::cross_entropy(x, classes, sn::loss::weight(w), kind); });
  each("cross_entropy ignore",
       [&](auto kind) { return sn::cross_entropy(x, classes, sn::loss::ignore_index(1), kind); });
  each("cross_entropy smoothing", [&](auto kind) {
    return sn::cross_entropy(x, classes, sn::loss::label_smoothing(0.2), sn::loss::ignore_index(4), kind);
  });
  each("cross_entropy weight smoothing", [&](auto kind) {
    return sn::cross_entropy(x, classes, kind, sn::loss::label_smoothing(0.2), sn::loss::ignore_index(0),
                             sn::loss::weight(w));
  });
  each("cross_entropy cells", [&](auto kind) {
    return sn::cross_entropy(torch["cube"], torch.operator[]<std::int64_t>("cells"), sn::loss::weight(torch["w3"]),
                             kind);
  });
  each("cross_entropy one", [&](auto kind) { return sn::cross_entropy(x[0], classes[0], kind); });
  each("cross_entropy shares", [&](auto kind) { return sn::cross_entropy(x, torch["shares"], kind); });
  each("cross_entropy shares weight smoothing", [&](auto kind) {
    return sn::cross_entropy(x, torch["shares"], sn::loss::weight(w), sn::loss::label_smoothing(0.1), kind);
  });
  EXPECT_EQ(torch.left_out("cross"), "");
}

TEST_P(Loss, OfExpressionsAndLazies) {
  torch.expect("cross_entropy mean", sn::cross_entropy(x * 2 - x, (classes + 1) - 1));
  torch.expect("cross_entropy mean", sn::nll_loss(sn::log_softmax(x, 1), classes));
  const sn::Lazy lazy = x * 1;
  torch.expect("cross_entropy mean", sn::cross_entropy(lazy, classes));
  torch.expect("mse_loss sum", sn::mse_loss(lazy, y, sn::reduction::sum));
  torch.expect("cross_entropy mean", sn::cross_entropy(x, classes.to<std::int32_t>()));
}

TEST_P(Loss, OfLargeScores) {
  const auto large = sn::tensor({{1e4f, 1e4f + 1, -1e4f}}, d);
  EXPECT_FLOAT_EQ(sn::cross_entropy(large, sn::tensor({1}, d)).item(), std::log1p(std::exp(-1.f)));
}

TEST_P(Loss, OfAScoreThatIsMaskedAndNoSmoothing) {
  const auto masked = sn::tensor({{0.f, -HUGE_VALF, 0.f}}, d);
  const auto none = sn::loss::label_smoothing(0);
  const auto of = sn::tensor({2}, d);
  EXPECT_FLOAT_EQ(sn::cross_entropy(masked, of, none).item(), std::log(2.f));
  EXPECT_FLOAT_EQ(sn::cross_entropy(masked, of, none, sn::loss::weight(sn::ones({3}, d))).item(), std::log(2.f));
  EXPECT_EQ(sn::cross_entropy(masked, of, sn::loss::label_smoothing(0.1)).item(), HUGE_VALF);
}

TEST_P(Loss, OfClassesInFewBits) {
  torch.expect("cross_entropy mean", sn::cross_entropy(x, classes.to<std::uint8_t>()));
  torch.expect("cross_entropy mean", sn::nll_loss(sn::log_softmax(x, 1), sn::AnyTensor(classes.to<std::int8_t>())));
  const auto scores = sn::zeros({1, 200}, d);
  const sn::Tensor<std::uint8_t> last = sn::full({1}, 156, d).to<std::uint8_t>();  // -100 in 8 bits
  EXPECT_FLOAT_EQ(sn::cross_entropy(scores, last).item(), std::log(200.f));
}

TEST_P(Loss, WrongOperands) {
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::cross_entropy(x, classes.narrow(0, 0, 3)); }),
              HasSubstr("cross_entropy: the target must have the shape (4,), where\n    x: float32 (4, 5)"));
  EXPECT_THROW((void)sn::cross_entropy(x, y.t()), sn::ShapeError);
  EXPECT_THROW((void)sn::nll_loss(x.sum(), classes[0]), sn::ShapeError);
  EXPECT_THROW((void)sn::cross_entropy(x, sn::AnyTensor(z.sum(1))), sn::DTypeError);
  EXPECT_THROW((void)sn::cross_entropy(x, classes, sn::loss::label_smoothing(1.5)), sn::Error);
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::cross_entropy(x, classes, sn::loss::weight(w[0])); }),
              HasSubstr("cross_entropy: the weight must have the shape (5,)"));
  EXPECT_THROW((void)sn::nll_loss(x, classes, sn::loss::weight(sn::ones({5, 1}, d))), sn::ShapeError);
  EXPECT_THROW((void)sn::huber_loss(x, y, 0), sn::Error);
  EXPECT_THROW((void)sn::smooth_l1_loss(x, y, -1), sn::Error);
  const auto outside = [&] {
    (void)sn::cross_entropy(x, classes + 1).item();  // 5 is not a class
  };
  EXPECT_THROW(outside(), sn::IndexError);
}

}  // namespace
