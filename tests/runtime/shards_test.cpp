// Tensors sharded: views of the whole beside the same views of an array that is in one shard.
#include <sinter/runtime/shards.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <sinter/runtime/error.hpp>

#include <gtest/gtest.h>

namespace sinter::runtime {
namespace {

std::int64_t& at(const TensorImpl& t, std::int64_t offset) { return reinterpret_cast<std::int64_t*>(t.data)[offset]; }

/// Calls f(offset in elements) for each element, row-major.
template <class F>
void for_each_offset(const Shape& shape, const Shape& strides, F f) {
  std::vector<std::int64_t> index(shape.size());
  for (std::int64_t n = 0; n < shape.numel(); ++n) {
    std::int64_t offset = 0, left = n;
    for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
      offset += left % shape[axis] * strides[axis];
      left /= shape[axis];
    }
    f(offset);
  }
}
std::vector<std::int64_t> elements(const TensorImpl& t) {
  std::vector<std::int64_t> all;
  for_each_offset(t.shape, t.strides, [&](std::int64_t o) { all.push_back(at(t, o)); });
  return all;
}

/// The same elements, numbered row-major, in one shard and in several.
struct Twins {
  TensorRef one, many;
  Mesh mesh;

  Twins(const Shape& shape, int axis, int ranks) : mesh(std::vector<Device>(static_cast<std::size_t>(ranks))) {
    one = empty(shape, DType::Int64, Device());
    for (std::int64_t i = 0; i < one->numel; ++i) at(*one, i) = i;
    many = empty_sharded(shape, axis, DType::Int64, mesh);
    for (int p = 0; p < ranks; ++p) {
      const TensorRef to = shard(*many, p), from = slice_of(*one, shape.ndim() - 1 - axis, mesh, p);
      EXPECT_EQ(to->shape, from->shape);
      const std::vector<std::int64_t> numbers = elements(*from);
      std::size_t next = 0;
      for_each_offset(to->shape, to->strides, [&](std::int64_t o) { at(*to, o) = numbers[next++]; });
    }
  }
};

Shape permuted(const Shape& x, const std::vector<int>& order) {
  Shape y;
  for (const int axis : order) y.push_back(x[axis]);
  return y;
}

TEST(Shards, ViewsAreThoseOfTheWhole) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  int taken = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    Shape shape;
    for (std::int64_t ndim = 1 + below(3); ndim > 0; --ndim) shape.push_back(below(6));
    const int axis = static_cast<int>(below(shape.ndim()));
    const Twins twins(shape, axis, static_cast<int>(1 + below(4)));
    // The same steps on both: an order of axes, a range of one, an axis more.
    std::vector<int> order(shape.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::ranges::shuffle(order, random);
    const int cut = static_cast<int>(below(shape.ndim()));
    const auto steps = [&](const TensorImpl& x, std::int64_t begin, std::int64_t length, bool adds) {
      Shape extents = permuted(x.shape, order), strides = permuted(x.strides, order);
      const std::int64_t offset = begin * strides[cut];
      extents[cut] = length;
      if (adds) extents.push_back(1), strides.push_back(1);
      return view(x, extents, strides, offset);
    };
    const std::int64_t all = shape[order[static_cast<std::size_t>(cut)]], length = all == 0 ? 0 : 1 + below(all);
    const std::int64_t begin = all == length ? 0 : below(all - length + 1);
    const bool adds = below(2) == 0;
    const TensorRef expected = steps(*twins.one, begin, length, adds);
    TensorRef got;
    try {
      got = steps(*twins.many, begin, length, adds);
    } catch (const ShapeError&) {
      ++refused;
      EXPECT_TRUE(order[static_cast<std::size_t>(cut)] == axis && length != all) << to_string(shape) << axis;
      continue;
    }
    ++taken;
    EXPECT_EQ(got->shape, expected->shape);
    const int split = sharded_axis_from_end(*got);
    for (int p = 0; p < twins.mesh.size(); ++p)
      EXPECT_EQ(elements(*shard(*got, p)), elements(*slice_of(*expected, split, twins.mesh, p))) << to_string(shape);
  }
  EXPECT_GT(taken, 500);
  EXPECT_GT(refused, 100);
}

TEST(Shards, ReplicatedTensorsHaveAnyView) {
  const Mesh mesh({Device(), Device()});
  const TensorRef t = empty_replicated({4, 3}, DType::Int64, mesh);
  for (int p = 0; p < 2; ++p) {
    const TensorRef own = shard(*t, p);
    for (std::int64_t i = 0; i < 12; ++i) at(*own, i) = i;
  }
  EXPECT_EQ(sharded_axis_from_end(*t), no_axis);
  const TensorRef diagonal = view(*t, {3}, {4}, 0);
  EXPECT_EQ(elements(*shard(*diagonal, 1)), (std::vector<std::int64_t>{0, 4, 8}));
  EXPECT_EQ(elements(*slice_of(*diagonal, 0, mesh, 1)), (std::vector<std::int64_t>{8}));
}

TEST(Shards, IndexTensorsHaveTheRanksOfTheirPart) {
  const Mesh mesh({Device(), Device(), Device()});
  const TensorRef index = iota_tensor({5, 2}, mesh);
  const TensorRef part = slice_of(*index, 1, mesh, 1);
  EXPECT_EQ(part->shape, Shape(2, 2));
  EXPECT_EQ(part->first, 4);
  EXPECT_EQ(part->device, Device());
  EXPECT_TRUE(lacks_memory(*part));
  EXPECT_FALSE(lacks_memory(*empty_sharded({5, 2}, 0, DType::Int64, mesh)));
}

TEST(Shards, AreDescribed) {
  const Mesh mesh({Device(), Device()});
  EXPECT_EQ(describe_placed(*empty_sharded({4, 3}, 1, DType::Float32, mesh)),
            "float32 (4, 3) on mesh(cpu, cpu), sharded along dim 1");
  EXPECT_EQ(describe_placed(*empty_replicated({4}, DType::Float32, mesh)),
            "float32 (4,) on mesh(cpu, cpu), replicated");
  EXPECT_EQ(describe_placed(*empty({4}, DType::Float32, Device())), "float32 (4,) on cpu");
}

}  // namespace
}  // namespace sinter::runtime
