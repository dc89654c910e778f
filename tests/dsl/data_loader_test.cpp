#include <sinter/data/data_loader.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <ranges>

#include "devices.hpp"

namespace sinter {
namespace {

using sinter_tests::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// For a loader of one-dimensional tensors: the extents of the batches, and their elements concatenated.
template <class Loader>
std::vector<std::int64_t> extents(Loader&& loader) {
  std::vector<std::int64_t> all;
  for (const auto& x : loader) all.push_back(x.size(0));
  return all;
}
template <class Loader>
std::vector<std::int64_t> elements(Loader&& loader) {
  std::vector<std::int64_t> all;
  for (const auto& x : loader) std::ranges::copy(x.to_vector(), std::back_inserter(all));
  return all;
}
std::vector<std::int64_t> sorted(std::vector<std::int64_t> values) {
  std::ranges::sort(values);
  return values;
}
TensorDataset<Tensor<std::int64_t, Cpu>> counted_from_zero(std::int64_t n) { return TensorDataset(arange(n)); }

struct Pair {
  BOOST_HANA_DEFINE_STRUCT(Pair, (Tensor<std::int64_t, Cpu>, number), (Tensor<double, Cpu>, half));
};
/// Samples that are structs, made one by one.
struct Halves {
  std::int64_t count;
  std::int64_t size() const { return count; }
  Pair operator[](std::int64_t i) const { return {full({2}, i), full<double>({}, static_cast<double>(i) / 2)}; }
};
struct Ragged {
  std::int64_t size() const { return 2; }
  Tensor<float, Cpu> operator[](std::int64_t i) const { return zeros({i + 1}); }
};

static_assert(std::ranges::input_range<DataLoader<RandomDataset>>);
static_assert(!std::copy_constructible<DataLoader<RandomDataset>::Iterator>);

TEST(DataLoader, TheTutorialsBatches) {
  DataLoader loader(RandomDataset(5, 100), {.batch_size = 30, .shuffle = true});
  EXPECT_EQ(loader.size(), 4);
  std::vector<Shape> shapes;
  for (auto x : loader) shapes.push_back(x.shape());
  EXPECT_THAT(shapes, ElementsAre(Shape{30, 5}, Shape{30, 5}, Shape{30, 5}, Shape{10, 5}));
}

TEST(DataLoader, InOrder) {
  EXPECT_THAT(elements(DataLoader(counted_from_zero(5))), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(extents(DataLoader(counted_from_zero(5))), ElementsAre(1, 1, 1, 1, 1));
  DataLoader loader(counted_from_zero(7), {.batch_size = 3});
  EXPECT_THAT(extents(loader), ElementsAre(3, 3, 1));
  EXPECT_THAT(elements(loader), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(elements(loader), ElementsAre(0, 1, 2, 3, 4, 5, 6));
}

TEST(DataLoader, TheLastBatch) {
  DataLoader dropped(counted_from_zero(7), {.batch_size = 3, .drop_last = true});
  EXPECT_EQ(dropped.size(), 2);
  EXPECT_THAT(elements(dropped), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(extents(DataLoader(counted_from_zero(6), {.batch_size = 3, .drop_last = true})), ElementsAre(3, 3));
  EXPECT_THAT(extents(DataLoader(counted_from_zero(6), {.batch_size = 3})), ElementsAre(3, 3));
  EXPECT_THAT(extents(DataLoader(counted_from_zero(2), {.batch_size = 3})), ElementsAre(2));
  EXPECT_THAT(extents(DataLoader(counted_from_zero(2), {.batch_size = 3, .drop_last = true})), ElementsAre());
  EXPECT_EQ(DataLoader(counted_from_zero(2), {.batch_size = std::numeric_limits<std::int64_t>::max()}).size(), 1);
}

TEST(DataLoader, NoSamples) {
  for (const bool shuffle : {false, true}) {
    DataLoader loader(counted_from_zero(0), {.batch_size = 3, .shuffle = shuffle, .workers = 2});
    EXPECT_EQ(loader.size(), 0);
    EXPECT_THAT(extents(loader), ElementsAre());
  }
}

TEST(DataLoader, APassHasEverySampleOnce) {
  DataLoader loader(counted_from_zero(1000), {.batch_size = 64, .shuffle = true, .seed = 5});
  const auto all = elements(DataLoader(counted_from_zero(1000)));
  const auto first = elements(loader), second = elements(loader);
  EXPECT_EQ(sorted(first), all);
  EXPECT_EQ(sorted(second), all);
  EXPECT_NE(first, all);
  EXPECT_NE(first, second);
}

TEST(DataLoader, SeedAndPassGiveTheOrder) {
  const DataLoaderOptions options{.batch_size = 4, .shuffle = true, .seed = 11};
  DataLoader a(counted_from_zero(50), options), b(counted_from_zero(50), options),
      other(counted_from_zero(50), {.shuffle = true, .seed = 12});
  const auto first = elements(a);
  EXPECT_EQ(first, elements(b));
  EXPECT_NE(first, elements(other));
  const auto second = elements(a);
  b.set_epoch(1);
  EXPECT_EQ(b.epoch(), 1);
  EXPECT_EQ(second, elements(b));
  b.set_epoch(0);
  EXPECT_EQ(first, elements(b));
}

// A pass that continued in another version would repeat samples.
TEST(DataLoader, TheOrderIsTheSameInEveryVersion) {
  EXPECT_THAT(elements(DataLoader(counted_from_zero(10), {.shuffle = true, .seed = 1})),
              ElementsAre(7, 6, 5, 4, 2, 8, 1, 3, 9, 0));
}

TEST(DataLoader, EveryPlaceIsEquallyLikely) {
  constexpr std::int64_t n = 6, passes = 3000;
  DataLoader loader(counted_from_zero(n), {.batch_size = n, .shuffle = true, .seed = 3});
  int counts[n][n] = {};
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    const auto order = elements(loader);
    for (std::size_t place = 0; place < n; ++place) ++counts[order[place]][place];
  }
  for (const auto& of_sample : counts)
    for (const int count : of_sample) EXPECT_NEAR(count, passes / n, 110);  // five standard deviations
}

TEST(DataLoader, WithoutASeedManualSeedGivesTheOrder) {
  const auto order = [] { return elements(DataLoader(counted_from_zero(100), {.shuffle = true})); };
  manual_seed(1);
  const auto first = order(), second = order();
  manual_seed(1);
  EXPECT_EQ(order(), first);
  EXPECT_NE(first, second);
}

TEST(DataLoader, TheOrderIsNotThatOfTheDatasetsNumbers) {
  manual_seed(4);
  const TensorDataset data(randint(0, std::numeric_limits<std::int64_t>::max(), {20}));
  EXPECT_FALSE(std::ranges::is_sorted(elements(DataLoader(data, {.shuffle = true, .seed = 4}))));
}

TEST(DataLoader, TuplesOfTensors) {
  const auto x = arange(10).reshape({5, 2});
  DataLoader loader(TensorDataset(x, arange(5)), {.batch_size = 2, .shuffle = true, .seed = 2});
  std::int64_t seen = 0;
  for (auto [input, label] : loader) {
    EXPECT_EQ(input.dim(), 2);
    EXPECT_TRUE(equal(input, stack(1, label * 2, label * 2 + 1)));
    seen += label.sum().item();
  }
  EXPECT_EQ(seen, 10);
}

TEST(DataLoader, StructsOfTensorsAreStacked) {
  std::int64_t next = 0;
  for (const auto& [number, half] : DataLoader(Halves{5}, {.batch_size = 2})) {
    EXPECT_EQ(number.shape(), (Shape{next < 4 ? 2 : 1, 2}));
    EXPECT_EQ(number(0, 1).item(), next);
    EXPECT_EQ(half[0].item(), static_cast<double>(next) / 2);
    next += 2;
  }
  EXPECT_EQ(next, 6);
}

TEST(DataLoader, BatchesOfAGpusTensorsLieThere) {
  for (const Device device : sinter_tests::devices())
    for (const auto& x : DataLoader(TensorDataset(arange(4).to(device)), {.batch_size = 4})) {
      EXPECT_EQ(x.device(), device);
      EXPECT_THAT(x.to_vector(), ElementsAre(0, 1, 2, 3));
    }
}

TEST(DataLoader, PinnedBatches) {
  if (!cuda_is_available()) GTEST_SKIP() << "needs a GPU";
  for (const auto& [number, half] : DataLoader(Halves{4}, {.batch_size = 2, .pin_memory = true})) {
    EXPECT_TRUE(number.is_pinned());
    EXPECT_TRUE(half.is_pinned());
  }
  DataLoader on_gpu(TensorDataset(arange(4).cuda()), {.pin_memory = true});
  EXPECT_THAT(message_of<DeviceError>([&] { on_gpu.begin(); }), HasSubstr(".cpu().pin_memory()"));
}

TEST(DataLoader, ShapesThatDiffer) {
  EXPECT_THROW(DataLoader(Ragged(), {.batch_size = 2}).begin(), ShapeError);
  EXPECT_NO_THROW(elements(DataLoader(counted_from_zero(2), {.batch_size = 2})));
}

TEST(DataLoader, OptionsThatMeanNothing) {
  for (const std::int64_t size : {0, -4})
    EXPECT_THAT(message_of<Error>([&] { DataLoader(counted_from_zero(2), {.batch_size = size}); }),
                HasSubstr("batch_size is " + std::to_string(size)));
  EXPECT_THAT(message_of<Error>([] { DataLoader(counted_from_zero(2), {.workers = -1}); }), HasSubstr("workers is -1"));
}

TEST(DataLoader, PassesAreApart) {
  DataLoader loader(counted_from_zero(4), {.batch_size = 2});
  auto a = loader.begin(), b = loader.begin();
  ++a;
  EXPECT_THAT(a->to_vector(), ElementsAre(2, 3));
  EXPECT_THAT((*b).to_vector(), ElementsAre(0, 1));
  ++a;
  EXPECT_TRUE(a == loader.end());
  EXPECT_FALSE(b == loader.end());
}

}  // namespace
}  // namespace sinter
