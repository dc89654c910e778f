// A view of an expression against the same view of what it evaluates to.
#include "devices.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <random>

namespace sn = sinter;
using sinter_tests::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Floats = sn::Tensor<float>;
constexpr auto none = sn::range::none;

Floats counted(const sn::Shape& shape, const sn::Device& d) {
  return sn::arange(shape.numel(), d).reshape(shape).to<float>();
}

/// For an expression of two tensors of one shape: the view of the expression, and that of its value.
template <class E, class V>
void expect_same(const E& e, V view, const char* what) {
  const sn::Tensor whole = e;
  const auto expected = view(whole);
  const auto viewed = view(e);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(viewed)>, E>, "a view has the type of what it views");
  EXPECT_EQ(viewed.shape(), expected.shape()) << what;
  EXPECT_TRUE(sn::equal(viewed, expected)) << what << '\n' << viewed << '\n' << expected;
}

template <class E>
void expect_all_views(const E& e) {  // of three axes, the second of them at least 3 long
#define SAME(view) expect_same(e, [](const auto& x) { return x.view; }, #view)
  SAME(transpose(0, 2));
  SAME(permute(2, 0, 1));
  SAME(movedim(0, 1));
  SAME(slice(1, 0, none, 2));
  SAME(slice(2, none, none, -1));
  SAME(narrow(1, 1, 2));
  SAME(select(1, -1));
  SAME(select(0, 0).t());
  SAME(flip(0, 2));
  SAME(diagonal(1, 0, 1));
  SAME(unfold(1, 2, 1));
  SAME(expand({2, -1, -1, -1}));
  SAME(reshape({-1}));
  SAME(flatten(0, 1));
  SAME(unflatten(1, {1, -1}));
  SAME(unsqueeze(1).squeeze());
  SAME(unsqueeze(-1).squeeze(0));
#undef SAME
  expect_same(e, [](const auto& x) { return x[0](sn::range(1, 3), sn::range(none, none, -2)); }, "ranges");
  const sn::Tensor whole = e;
  for (const auto& [parts, expected] :
       {std::pair(e.split(2, 1), whole.split(2, 1)), std::pair(e.chunk(3, 1), whole.chunk(3, 1)),
        std::pair(e.unbind(2), whole.unbind(2))}) {
    ASSERT_EQ(parts.size(), expected.size());
    for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_TRUE(sn::equal(parts[i], expected[i])) << i;
  }
}

class ExpressionView : public testing::TestWithParam<sn::Device> {
 protected:
  sn::Device d = GetParam();
  Floats x = counted({2, 3, 4}, d), row = counted({4}, d), column = counted({3, 1}, d), one = sn::full({}, 0.5f, d);
};
INSTANTIATE_TEST_SUITE_P(Devices, ExpressionView, testing::ValuesIn(sinter_tests::devices()), [](const auto& device) {
  return device.param.is_cuda() ? "cuda" + std::to_string(device.param.index()) : "cpu";
});

TEST_P(ExpressionView, OfBroadcastLeaves) {
  expect_all_views(x * 2 + row);
  expect_all_views(row * column + one - x.transpose(0, 2).transpose(0, 2));
  expect_all_views((row + column).expand({2, 3, 4}));
  expect_all_views(sn::where(x > 5, row, column * x));
  expect_all_views(x.to<std::int64_t>() + 1);
}

TEST_P(ExpressionView, OfSharedParts) {
  expect_all_views(sn::let(x - row, [](auto v) { return v * v + v; }));
  const sn::function swish([](auto a, auto b) { return a * sn::sigmoid(b * a); });
  expect_all_views(swish(x + 1, column));
}

TEST_P(ExpressionView, OfLazyGraphs) {
  sn::Lazy sum = x + row;
  for (int i = 0; i < 5; ++i) sum = sum * 0.5f + column;
  expect_all_views(sum);
  const sn::Lazy half = sum * 0.5f;
  (void)sn::evaluate(sum);  // from here on its value is known
  expect_all_views(half);
}

TEST_P(ExpressionView, ALoopThatViewsWhatItGrowsStaysBounded) {
  constexpr int steps = 2 * sn::jit::max_copied_nodes + 10;
  const Floats square = counted({3, 3}, d);
  sn::Lazy sum = square + 0.f;
  const auto before = sn::jit_stats();
  for (int i = 0; i < steps; ++i) sum = sn::Lazy((sum + 1.f).t());
  EXPECT_LE(sn::jit_stats().launches - before.launches, 3u);
  EXPECT_LE(sn::jit_stats().plans - before.plans, 3u);
  EXPECT_TRUE(sn::equal(sum, square + static_cast<float>(steps)));  // an even number of transposes
}

// Values that are already known are not read again.
TEST_P(ExpressionView, OfALazyWhoseTensorsHaveChanged) {
  Floats y = x.clone();
  const sn::Lazy twice = y * 2;
  const Floats before = twice;
  y += 1;
  EXPECT_TRUE(sn::equal(twice.transpose(0, 1), before.transpose(0, 1)));
  EXPECT_TRUE(sn::equal(sn::cat(0, twice, twice), sn::cat({before, before})));
  EXPECT_EQ(twice.shape(), x.shape());
  sn::Tensor<std::int64_t> ids = sn::arange(2, d);
  const sn::Lazy index = ids + 0;
  (void)sn::evaluate(index);
  ids += 5;
  EXPECT_TRUE(sn::equal(x[index], x));
  EXPECT_EQ(sn::rand_like<float>(twice).shape(), x.shape());
}

TEST_P(ExpressionView, OfRandomNumbersThatAreDrawnOnce) {
  expect_all_views(sn::dropout(x + 1, 0.5));
  expect_all_views(sn::rand_like(x + row));
  expect_all_views(sn::randn_like<sn::half>(x + row));
}

TEST_P(ExpressionView, OfTensorsWithoutDtype) {
  const sn::AnyTensor a = x;
  expect_all_views(a + row);
}

TEST_P(ExpressionView, ComputesNothingAndMakesOneKernel) {
  const auto e = (x * 2 + row).exp();
  const auto before = sn::jit_stats().launches;
  const auto viewed = e.transpose(0, 2).flip(1)(sn::range(1, 3));
  EXPECT_EQ(sn::jit_stats().launches, before);
  EXPECT_THAT(sn::explain(viewed + 1), HasSubstr("1 kernel"));
}

TEST_P(ExpressionView, EqualLeavesStayEqual) {
  const auto e = (x + row) * (x - row) + x;
  EXPECT_EQ(sn::cuda_source(e.transpose(0, 1)).find("x2"), std::string::npos);
}

TEST_P(ExpressionView, ReshapeCopiesLeavesWhoseLayoutDoesNotAllowIt) {
  EXPECT_THAT((row + column).reshape({2, 6})[1].to_vector(), ElementsAre(3, 4, 2, 3, 4, 5));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)(row + column).view({12}); }), HasSubstr("reshape makes one"));
  EXPECT_EQ((x + x).view({6, 4}).shape(), sn::Shape(6, 4));
}

TEST_P(ExpressionView, RandomChainsOfViews) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int round = 0; round < 30; ++round) {
    const auto sum = x * 3 + row - column;
    const auto e = sn::Lazy(sum);  // so that a variable may hold a view of it
    sn::Lazy viewed = e;
    sn::Tensor whole = sum;
    for (int step = 0; step < 4; ++step) {
      std::function<sn::Lazy<float>(const sn::Lazy<float>&)> of_lazy;
      std::function<Floats(const Floats&)> of_tensor;
      const auto use = [&](auto view) { of_lazy = view, of_tensor = view; };
      const std::int64_t axis = whole.dim() > 0 ? below(whole.dim()) : 0,
                         other = whole.dim() > 0 ? below(whole.dim()) : 0;
      const std::int64_t kind = whole.dim() == 0 ? 2 : below(6);
      if (kind == 0) use([=](const auto& v) { return v.transpose(axis, other); });
      if (kind == 1) use([=](const auto& v) { return v.slice(axis, none, none, -2); });
      if (kind == 2) use([=](const auto& v) { return v.unsqueeze(0).squeeze(); });
      if (kind == 3) use([=](const auto& v) { return v.flip(axis); });
      if (kind == 4) use([=](const auto& v) { return v.reshape({-1, 1}); });
      if (kind == 5) use([=](const auto& v) { return v.select(axis, -1); });
      viewed = of_lazy(viewed);
      whole = of_tensor(whole);
      ASSERT_TRUE(sn::equal(viewed, whole)) << step;
    }
  }
}

TEST(ExpressionViewErrors, NameTheWholeShape) {
  const Floats x = counted({2, 1}, sn::Device()), row = counted({3}, sn::Device());
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)(x + row)[2]; }),
              HasSubstr("index 2 is out of bounds for dimension 0 with size 2 of float32 (2, 3) on cpu"));
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)(x + row)(0, 0, 0); }), HasSubstr("too many indices"));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)(x + counted({2, 2, 2}, sn::Device())).t(); }),
              HasSubstr("t() expects a tensor with <= 2 dimensions"));
  EXPECT_THROW((void)(counted({2}, sn::Device()) + row).t(), sn::ShapeError);
  auto e = x + row;
  const auto taken = std::move(e);
  EXPECT_THAT(message_of<sn::Error>([&] { (void)e.t(); }), HasSubstr("moved from"));
}

}  // namespace
