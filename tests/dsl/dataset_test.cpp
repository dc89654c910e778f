#include <sinter/data/dataset.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "devices.hpp"

namespace sinter {
namespace {

using sinter_tests::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor<std::int64_t, Cpu> positions(std::initializer_list<std::int64_t> list) {
  const std::vector<std::int64_t> values(list);
  return tensor(values, {static_cast<std::int64_t>(values.size())});
}

TEST(TensorDataset, SamplesOfOneTensorAreItsRows) {
  const TensorDataset data(arange(6).reshape({3, 2}));
  static_assert(std::is_same_v<sample_of<decltype(data)>, Tensor<std::int64_t, Cpu>>);
  EXPECT_EQ(data.size(), 3);
  EXPECT_THAT(data[1].to_vector(), ElementsAre(2, 3));
  EXPECT_THAT(data[-1].to_vector(), ElementsAre(4, 5));
  EXPECT_THROW(data[3], IndexError);
}

TEST(TensorDataset, SamplesOfSeveralAreTuples) {
  const auto x = arange(6).to<float>().reshape({3, 2});
  const TensorDataset data(x, arange(3) * 10);  // an expression is evaluated
  static_assert(std::is_same_v<sample_of<decltype(data)>, std::tuple<Tensor<float, Cpu>, Tensor<std::int64_t, Cpu>>>);
  const auto [row, label] = data[2];
  EXPECT_THAT(row.to_vector(), ElementsAre(4, 5));
  EXPECT_EQ(label.shape(), Shape{});
  EXPECT_EQ(label.item(), 20);
  EXPECT_TRUE(row.same_storage(x));
  EXPECT_TRUE(std::get<0>(data.tensors()).same_storage(x));
}

TEST(TensorDataset, BatchesAreGatheredOnTheTensorsDevice) {
  for (const Device device : sinter_tests::devices()) {
    const Tensor<float> x = arange(8).to<float>().reshape({4, 2}).to(device);
    const AnyTensor y = arange(4).to<half>().to(device);
    const auto [a, b] = TensorDataset(x, y).batch(positions({3, 0, 3}));
    EXPECT_EQ(a.device(), device);
    EXPECT_THAT(a.to_vector(), ElementsAre(6, 7, 0, 1, 6, 7));
    EXPECT_EQ(b.device(), device);
    EXPECT_EQ(b.dtype(), DType::Float16);
    EXPECT_THAT(b.to<float>().to_vector(), ElementsAre(3, 0, 3));
  }
}

TEST(TensorDataset, ABatchIsACopy) {
  const auto x = zeros({3});
  TensorDataset(x).batch(positions({0, 1, 2})) += 1;
  EXPECT_THAT(x.to_vector(), ElementsAre(0, 0, 0));
}

TEST(TensorDataset, DifferentlyManySamplesAreRefused) {
  const auto x = zeros({3, 2});
  const auto y = zeros<std::int64_t>({4});
  EXPECT_THAT(message_of<ShapeError>([&] { const TensorDataset data(x, y); }),
              AllOf(HasSubstr("axis 0"), HasSubstr("tensor 0: float32 (3, 2) on cpu"),
                    HasSubstr("tensor 1: int64 (4,) on cpu")));
  EXPECT_THAT(message_of<ShapeError>([&] { const TensorDataset data(zeros({})); }), HasSubstr("float32 () on cpu"));
  EXPECT_THROW(TensorDataset(x, Tensor<float, Cpu>()), Error);
}

TEST(RandomDataset, HoldsWhatRandnDraws) {
  manual_seed(7);
  const auto expected = randn({100, 5});
  const RandomDataset data(5, 100, 7);
  EXPECT_EQ(data.size(), 100);
  EXPECT_TRUE(equal(std::get<0>(data.tensors()), expected));
  EXPECT_FALSE(equal(std::get<0>(RandomDataset(5, 100, 8).tensors()), expected));
  manual_seed(7);
  EXPECT_TRUE(equal(std::get<0>(RandomDataset(5, 100).tensors()), expected));
}

struct Named {
  BOOST_HANA_DEFINE_STRUCT(Named, (Tensor<float, Cpu>, x), (AnyTensor, y));
};
struct WithNumber {
  BOOST_HANA_DEFINE_STRUCT(WithNumber, (Tensor<float, Cpu>, x), (int, y));
};
struct Seven {
  using T = Tensor<std::int64_t, Cpu>;
  BOOST_HANA_DEFINE_STRUCT(Seven, (T, a), (T, b), (T, c), (T, d), (T, e), (T, f), (T, g));
};

static_assert(sample<Tensor<float>> && sample<AnyTensor> && sample<std::tuple<AnyTensor>> && sample<Named>);
static_assert(sample<std::pair<Tensor<float>, Tensor<int>>> && sample<std::array<Tensor<float>, 3>>);
static_assert(!sample<int> && !sample<std::tuple<>> && !sample<WithNumber> && !sample<std::tuple<AnyTensor, int>>);
static_assert(Dataset<RandomDataset> && !Dataset<std::vector<int>> && Dataset<std::vector<Named>>);

TEST(Sample, StructsAndTuplesAreStackedPartByPart) {
  const std::vector<Named> samples{{full({2}, 1.f), full({}, 5)}, {full({2}, 2.f), full({}, 6)}};
  const Named batch = stack_samples(std::span<const Named>(samples));
  EXPECT_THAT(batch.x.to_vector(), ElementsAre(1, 1, 2, 2));
  EXPECT_EQ(batch.x.shape(), (Shape{2, 2}));
  EXPECT_THAT(batch.y.as<std::int64_t>().to_vector(), ElementsAre(5, 6));

  const std::vector<std::pair<Tensor<float, Cpu>, Tensor<bool, Cpu>>> pairs(3, {ones({1, 4}), full({}, true)});
  const auto [x, y] = stack_samples(std::span(pairs));
  EXPECT_EQ(x.shape(), (Shape{3, 1, 4}));
  EXPECT_EQ(y.shape(), (Shape{3}));
}

TEST(Sample, StructsMayHaveManyTensors) {
  const auto number = [](std::int64_t n) { return full({}, n); };
  const std::vector<Seven> samples(2, {number(0), number(1), number(2), number(3), number(4), number(5), number(6)});
  const auto [a, b, c, d, e, f, g] = stack_samples(std::span(samples));
  EXPECT_THAT(a.to_vector(), ElementsAre(0, 0));
  EXPECT_THAT(g.to_vector(), ElementsAre(6, 6));
}

}  // namespace
}  // namespace sinter
