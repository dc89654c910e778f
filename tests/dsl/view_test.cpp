// Views against an independent loop over coordinates.
#include "devices.hpp"

#include <gmock/gmock.h>

#include <random>

namespace sn = sinter;
using sinter_tests::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using I = sn::Tensor<std::int64_t, sn::Cpu>;

I counted(const sn::Shape& shape) { return sn::arange(shape.numel()).reshape(shape); }

TEST(View, TransposePermuteSelect) {
  const I x = counted({2, 3, 4});
  EXPECT_EQ(x.transpose(0, -1).shape(), sn::Shape(4, 3, 2));
  EXPECT_EQ(sn::tensor(5.0f).transpose(0, -1).item(), 5);
  EXPECT_THROW((void)sn::tensor(5.0f).transpose(0, 1), sn::IndexError);
  EXPECT_EQ(x.transpose(0, 2)[3][1][1].item(), 1 * 12 + 1 * 4 + 3);
  EXPECT_EQ(x.permute(1, 2, 0).shape(), sn::Shape(3, 4, 2));
  EXPECT_EQ(x.permute(1, 2, 0)[2][3][1].item(), 23);
  EXPECT_TRUE(x.permute(1, 2, 0).same_storage(x));
  EXPECT_EQ(counted({2, 3}).t().shape(), sn::Shape(3, 2));
  EXPECT_FALSE(counted({2, 3}).t().is_contiguous());
  EXPECT_THROW(x.permute(0, 0, 1), sn::IndexError);
  EXPECT_THROW(x.permute(0, 1), sn::ShapeError);
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x[2]; }),
              HasSubstr("index 2 is out of bounds for dimension 0 with size 2"));
  EXPECT_EQ(x[-1][-1][-1].item(), 23);
  EXPECT_THROW((void)counted({2})[0][0], sn::IndexError);
}

TEST(View, TransposesMatricesOnly) {
  EXPECT_EQ(counted({2}).t().shape(), sn::Shape(2));
  EXPECT_EQ(sn::tensor(1).t().dim(), 0);
  EXPECT_THAT(message_of<sn::ShapeError>([] { (void)counted({2, 3, 4}).t(); }),
              testing::AllOf(HasSubstr("t() expects a tensor with <= 2 dimensions, but self is 3D"),
                             HasSubstr("int64 (2, 3, 4) on cpu")));
}

TEST(View, NarrowsToPositionsThatAreThere) {
  const I x = sn::arange(6);
  EXPECT_THAT(x.narrow(0, 1, 3).to_vector(), ElementsAre(1, 2, 3));
  EXPECT_THAT(x.narrow(0, -2, 2).to_vector(), ElementsAre(4, 5));
  EXPECT_EQ(x.narrow(-1, 6, 0).numel(), 0);
  EXPECT_TRUE(x.narrow(0, -2, 2).same_storage(x));
  EXPECT_THAT(
      message_of<sn::IndexError>([&] { (void)x.narrow(0, 4, 5); }),
      testing::AllOf(HasSubstr("start (4) + length (5) exceeds dimension size (6)"), HasSubstr("int64 (6,) on cpu")));
  EXPECT_THROW((void)x.narrow(0, -2, 3), sn::IndexError);
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x.narrow(0, 2, -1); }), HasSubstr("the length -1 is negative"));
  constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x.narrow(0, 7, 0); }), HasSubstr("[-6, 6], but got 7"));
  EXPECT_THROW((void)x.narrow(0, 1, max), sn::IndexError);
  EXPECT_THROW((void)x.narrow(0, -max, max), sn::IndexError);
  EXPECT_THROW((void)x.narrow(1, 0, 1), sn::IndexError);
}

// Python's rule, from its documentation, one position at a time.
std::vector<std::int64_t> python_slice(std::int64_t n, sn::range r) {
  std::vector<std::int64_t> positions;
  const bool forwards = r.step > 0;
  std::int64_t i = r.first == sn::range::none ? (forwards ? 0 : n - 1) : r.first < 0 ? r.first + n : r.first;
  std::int64_t end = r.last == sn::range::none ? (forwards ? n : -1) : r.last < 0 ? r.last + n : r.last;
  if (forwards) {
    if (i < 0) i = 0;
    for (; i < end && i < n; i += r.step) positions.push_back(i);
  } else {
    if (i >= n) i = n - 1;
    if (r.last != sn::range::none && end < -1) end = -1;
    for (; i > end && i >= 0; i += r.step) positions.push_back(i);
  }
  return positions;
}

TEST(View, SlicesAsPythonDoes) {
  for (std::int64_t n : {0, 1, 2, 7}) {
    const I x = sn::arange(n);
    for (std::int64_t first :
         {sn::range::none, std::int64_t{-9}, std::int64_t{-2}, std::int64_t{0}, std::int64_t{3}, std::int64_t{9}})
      for (std::int64_t last :
           {sn::range::none, std::int64_t{-9}, std::int64_t{-1}, std::int64_t{0}, std::int64_t{4}, std::int64_t{9}})
        for (std::int64_t step : {1, 2, 5, -1, -3}) {
          const sn::range r(first, last, step);
          EXPECT_EQ(x(r).to_vector(), python_slice(n, r)) << n << ' ' << first << ' ' << last << ' ' << step;
        }
  }
  EXPECT_THROW(sn::arange(3).slice(0, 0, 3, 0), sn::IndexError);
  EXPECT_THAT(sn::arange(9)(sn::range(0, 9, std::numeric_limits<std::int64_t>::max())).to_vector(), ElementsAre(0));
}

TEST(View, IndexesSeveralAxes) {
  const I x = counted({3, 4});
  EXPECT_THAT(x(sn::range(0, 2), sn::range()).to_vector(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(x(sn::range(), 1).to_vector(), ElementsAre(1, 5, 9));
  EXPECT_THAT(x(2, sn::range(1, 3)).to_vector(), ElementsAre(9, 10));
  EXPECT_EQ(x(1, 2).item(), 6);
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x(0, sn::range(), 0); }),
              HasSubstr("too many indices: 3 given for a tensor of 2 dimensions, int64 (3, 4) on cpu"));
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x[0](0, 0); }), HasSubstr("2 given for a tensor of 1 dimension,"));
  for (const auto& index : {+[] { (void)sn::tensor(1)[0]; }, +[] { (void)sn::tensor(1)(0); }})
    EXPECT_THAT(message_of<sn::IndexError>(index), HasSubstr("a 0-d tensor cannot be indexed; use item()"));
}

TEST(View, CompileTimeIntegersAreIndices) {
  using namespace sn::literals;
  const I x = counted({3, 4});
  EXPECT_EQ(x[1_c][2_c].item(), 6);
  EXPECT_EQ(x(1_c, -1).item(), 7);
  EXPECT_EQ(x.permute(1_c, 0u).shape(), sn::Shape(4, 3));
}

TEST(View, ExpandSqueezeUnsqueeze) {
  const I x = counted({3, 1});
  EXPECT_EQ(x.expand({2, 3, 4}).shape(), sn::Shape(2, 3, 4));
  EXPECT_EQ(x.expand({2, 3, 4})[1][2][3].item(), 2);
  EXPECT_EQ(x.expand({-1, 4}).shape(), sn::Shape(3, 4));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)x.expand({2, 4}); }),
              testing::AllOf(HasSubstr("(3, 1)"), HasSubstr("(2, 4)")));
  EXPECT_THROW((void)x.expand({3}), sn::ShapeError);
  EXPECT_EQ(x.squeeze().shape(), sn::Shape(3));
  EXPECT_EQ(x.squeeze(0).shape(), sn::Shape(3, 1));
  EXPECT_EQ(x.squeeze(1).shape(), sn::Shape(3));
  EXPECT_EQ(x.unsqueeze(0).shape(), sn::Shape(1, 3, 1));
  EXPECT_EQ(x.unsqueeze(-1).shape(), sn::Shape(3, 1, 1));
}

TEST(View, ReshapeSharesWhereTheLayoutAllows) {
  const I x = counted({4, 6});
  EXPECT_TRUE(x.reshape({2, -1, 3}).same_storage(x));
  EXPECT_EQ(x.reshape({2, -1, 3}).shape(), sn::Shape(2, 4, 3));
  EXPECT_FALSE(x.t().reshape({24}).same_storage(x));
  EXPECT_EQ(x.t().reshape({24})[1].item(), 6);
  EXPECT_TRUE(x(sn::range(), sn::range(0, 4)).reshape({2, 2, 4}).same_storage(x));
  EXPECT_EQ(counted({0, 3}).reshape({3, 0}).shape(), sn::Shape(3, 0));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)x.reshape({5, 5}); }),
              testing::AllOf(HasSubstr("(5, 5)"), HasSubstr("24")));
  EXPECT_THROW((void)x.reshape({-1, -1}), sn::ShapeError);
  EXPECT_THROW((void)x.reshape({5, -1}), sn::ShapeError);
  EXPECT_THROW((void)counted({0}).reshape({0, -1}), sn::ShapeError);
  EXPECT_THROW((void)x.reshape({std::int64_t{1} << 62, 4}), sn::ShapeError);
}

// Random chains of views: every element is where the coordinates say.
TEST(View, RandomChains) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int round = 0; round < 200; ++round) {
    I x = counted({1 + below(4), 1 + below(5), 1 + below(6)});
    std::vector<std::int64_t> values = x.to_vector();
    for (int step = 0; step < 4; ++step) {
      I y = x;
      switch (below(4)) {
        case 0: y = x.transpose(below(x.dim()), below(x.dim())); break;
        case 1: {
          const std::int64_t by = 1 + below(3);
          y = x.slice(below(x.dim()), sn::range::none, sn::range::none, below(2) ? by : -by);
          break;
        }
        case 2: y = x.dim() < 6 ? x.unsqueeze(below(x.dim() + 1)) : x.squeeze(); break;
        default: y = x.reshape({x.numel(), 1}); break;
      }
      if (y.dim() == 0) continue;
      // Each element by indices agrees with the flat list of the same view.
      const std::vector<std::int64_t> flat = y.to_vector();
      for (int probe = 0; probe < 5 && y.numel() > 0; ++probe) {
        I e = y;
        std::int64_t at = 0;
        for (int axis = 0; axis < y.dim(); ++axis) {
          const std::int64_t i = below(y.size(axis));
          at = at * y.size(axis) + i;
          e = e[i];
        }
        ASSERT_EQ(e.item(), flat[static_cast<std::size_t>(at)]);
      }
      x = y;
    }
  }
}

TEST(View, WritesThroughAViewThatWalksBackwards) {
  for (const sn::Device& d : sinter_tests::devices()) {
    auto x = sn::zeros<std::int64_t>({2, 3}, d);
    x(sn::range(), sn::range(sn::range::none, sn::range::none, -1)) = sn::arange(6, d).reshape({2, 3});
    EXPECT_THAT(x.cpu().to_vector(), ElementsAre(2, 1, 0, 5, 4, 3)) << to_string(d);
  }
}

TEST(View, ExpressionsOverViewsOnEveryDevice) {
  for (const sn::Device& d : sinter_tests::devices()) {
    const auto x = sn::arange(24, d).reshape({4, 6});
    const sn::Tensor r =
        x.t() * 10 + x(sn::range(0, 4), sn::range(sn::range::none, sn::range::none, -1))[0].unsqueeze(1);
    EXPECT_EQ(r.shape(), sn::Shape(6, 4));
    const auto v = r.cpu();
    for (std::int64_t i = 0; i < 6; ++i)
      for (std::int64_t j = 0; j < 4; ++j) ASSERT_EQ(v[i][j].item(), (j * 6 + i) * 10 + (5 - i)) << to_string(d);
  }
}

TEST(View, FlipsAsAView) {
  const I x = counted({2, 3});
  EXPECT_THAT(x.flip(1).to_vector(), ElementsAre(2, 1, 0, 5, 4, 3));
  EXPECT_THAT(x.flip(0, -1).to_vector(), ElementsAre(5, 4, 3, 2, 1, 0));
  EXPECT_TRUE(x.flip(0).same_storage(x));
  I y = x.clone();
  y.flip(0).assign(sn::tensor({10, 20, 30}));
  y.flip(1)[0] += 1;
  EXPECT_THAT(y.to_vector(), ElementsAre(11, 21, 31, 10, 20, 30));
  EXPECT_EQ(counted({0, 3}).flip(0, 1).numel(), 0);
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x.flip(0, -2); }), HasSubstr("axis -2 is named twice"));
  EXPECT_THROW((void)x.flip(2), sn::IndexError);
}

TEST(View, DiagonalsOfEveryOffset) {
  for (const sn::Shape& shape : {sn::Shape(3, 5), sn::Shape(5, 3), sn::Shape(1, 1), sn::Shape(0, 4)}) {
    const I x = counted(shape);
    for (std::int64_t offset = -7; offset <= 7; ++offset) {
      std::vector<std::int64_t> expected;
      for (std::int64_t i = 0; i < shape[0]; ++i)
        if (i + offset >= 0 && i + offset < shape[1]) expected.push_back(i * shape[1] + i + offset);
      EXPECT_EQ(x.diagonal(offset).to_vector(), expected) << to_string(shape) << " " << offset;
    }
  }
  constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(counted({2, 2}).diagonal(max).numel(), 0);
  EXPECT_EQ(counted({2, 2}).diagonal(-max - 1).numel(), 0);
  const I cube = counted({2, 3, 4});
  EXPECT_EQ(cube.diagonal(1, 2, 0).shape(), sn::Shape(3, 1));
  EXPECT_THAT(cube.diagonal(0, 0, 2).to_vector(), ElementsAre(0, 13, 4, 17, 8, 21));
  EXPECT_THROW((void)cube.diagonal(0, 1, -2), sn::IndexError);
  I m = sn::zeros<std::int64_t>({2, 2});
  m.diagonal().assign(7);
  EXPECT_THAT(m.to_vector(), ElementsAre(7, 0, 0, 7));
}

TEST(View, MovesFlattensAndUnflattens) {
  const I x = counted({2, 3, 4, 5});
  EXPECT_EQ(x.movedim(0, 2).shape(), sn::Shape(3, 4, 2, 5));
  EXPECT_EQ(x.movedim(-1, 0).shape(), sn::Shape(5, 2, 3, 4));
  EXPECT_EQ(x.movedim(1, 1).shape(), x.shape());
  EXPECT_EQ(x.flatten().shape(), sn::Shape(120));
  EXPECT_EQ(x.flatten(1, 2).shape(), sn::Shape(2, 12, 5));
  EXPECT_TRUE(x.flatten(1, 2).same_storage(x));
  EXPECT_EQ(sn::tensor(3).flatten().shape(), sn::Shape(1));
  EXPECT_EQ(x.flatten(1, 2).unflatten(1, {3, -1}).shape(), x.shape());
  EXPECT_TRUE(sn::equal(x.transpose(1, 2).flatten(1, 2).unflatten(1, {4, 3}).transpose(1, 2), x));
  EXPECT_THROW((void)x.flatten(2, 1), sn::IndexError);
  EXPECT_EQ(counted({0, 6}).unflatten(1, {2, 3}).shape(), sn::Shape(0, 2, 3));
  EXPECT_EQ(counted({2}).narrow(0, 0, 0).reshape({0, 6}).unflatten(1, {-1, 3}).shape(), sn::Shape(0, 2, 3));
  EXPECT_EQ(counted({0, 6}).unflatten(0, {0, 5}).shape(), sn::Shape(0, 5, 6));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)x.unflatten(1, {2, 2}); }),
              HasSubstr("unflatten: shape (2, 2) does not hold the 3"));
}

TEST(View, ViewNeverCopies) {
  const I x = counted({2, 3});
  EXPECT_TRUE(x.view({3, -1}).same_storage(x));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)x.t().view({6}); }),
              testing::AllOf(HasSubstr("needs a copy of int64 (3, 2) on cpu"), HasSubstr("reshape makes one")));
  EXPECT_THAT(x.t().reshape({6}).to_vector(), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(x.unsqueeze(0).broadcast_to({4, 2, 3}).shape(), sn::Shape(4, 2, 3));
}

TEST(View, UnfoldsWindows) {
  const I x = sn::arange(7);
  EXPECT_THAT(x.unfold(0, 3, 2).to_vector(), ElementsAre(0, 1, 2, 2, 3, 4, 4, 5, 6));
  EXPECT_EQ(counted({2, 7}).unfold(1, 3, 2).shape(), sn::Shape(2, 3, 3));
  EXPECT_EQ(x.unfold(0, 7, 100).shape(), sn::Shape(1, 7));
  EXPECT_THROW((void)x.unfold(0, 8, 1), sn::ShapeError);
  EXPECT_THROW((void)x.unfold(0, 2, 0), sn::ShapeError);
}

TEST(View, PartsAlongAnAxis) {
  const auto sizes = [](const std::vector<I>& parts, int axis) {
    std::vector<std::int64_t> all;
    for (const I& p : parts) all.push_back(p.size(axis));
    return all;
  };
  const I x = counted({2, 10});
  EXPECT_THAT(sizes(x.split(4, 1), 1), ElementsAre(4, 4, 2));
  EXPECT_THAT(sizes(x.chunk(4, 1), 1), ElementsAre(3, 3, 3, 1));
  EXPECT_THAT(sizes(sn::arange(30).chunk(3), 0), ElementsAre(10, 10, 10));
  EXPECT_THAT(sizes(sn::arange(2).chunk(5), 0), ElementsAre(1, 1));
  EXPECT_THAT(sizes(counted({0}).split(3), 0), ElementsAre(0));
  EXPECT_THAT(sizes(counted({0}).chunk(3), 0), ElementsAre(0));
  EXPECT_EQ(x.unbind(1).size(), 10u);
  EXPECT_THAT(x.unbind(1)[3].to_vector(), ElementsAre(3, 13));
  EXPECT_TRUE(x.split(4, 1)[2].same_storage(x));
  EXPECT_THROW((void)x.split(0), sn::ShapeError);
  EXPECT_THROW((void)x.chunk(0), sn::ShapeError);
  EXPECT_THROW((void)sn::tensor(1).unbind(), sn::IndexError);
}

TEST(View, HasAtMostEightDimensions) {
  const sn::Tensor<float> x = sn::zeros({1, 1, 1, 1, 1, 1, 1, 4});
  const auto refused = [](const char* what, auto f) {
    EXPECT_THAT(message_of<sn::ShapeError>(f),
                testing::AllOf(testing::StartsWith(std::string(what) + ": "),
                               HasSubstr("(1, 1, 1, 1, 1, 1, 1, 4) on cpu"), HasSubstr("would have 9 dimensions")))
        << what;
  };
  refused("unsqueeze", [&] { (void)x.unsqueeze(0); });
  refused("unflatten", [&] { (void)x.unflatten(-1, {2, -1}); });
  refused("unfold", [&] { (void)x.unfold(-1, 2, 1); });
  refused("view_as_real", [&] { (void)sn::view_as_real(sn::Tensor(sn::complex(x, x))); });
  EXPECT_EQ(x.unflatten(-1, {4}).dim(), 8);
}

}  // namespace
