// Loads from an array at computed offsets, planned and evaluated.
#include <sinter/jit/evaluate.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sinter/runtime/error.hpp>

#include <jit/plan/plan.hpp>
#include "device_arrays.hpp"
#include "trees.hpp"

namespace sinter::testing {
namespace {

using jit::Slot;
using ::testing::ElementsAre;

/// x at the sum of so many leaves of offsets.
Written load_at_sum(int leaves) {
  Written p;
  p.array(DType::Float32).leaf(i64);
  for (int i = 1; i < leaves; ++i) p.leaf(i64).op(Op::add);
  return p.op(Op::load);
}

TEST(Load, APlanCutBetweenOffsetAndLoad) {
  constexpr int leaves = 200;  // more than a kernel takes
  const jit::Plan plan = jit::schedule(jit::simplify(load_at_sum(leaves).record()));
  ASSERT_GT(plan.kernels.size(), 1u);
  int arrays = 0;
  for (const jit::Kernel& k : plan.kernels)
    for (const Slot& s : k.inputs) arrays += s.kind == Slot::Kind::Array;
  EXPECT_EQ(arrays, 1);  // the kernel that loads, and no other, has the array
  const auto& inputs = plan.kernels.back().inputs;
  EXPECT_GT(std::ranges::count(inputs, Slot::Kind::Temporary, &Slot::kind), 0);  // part of the offset
  for (const Device device : test_devices()) {
    const std::vector<std::uint64_t> x{test::to_bits(10.f), test::to_bits(11.f), test::to_bits(12.f)};
    std::vector<TensorRef> operands{device_array(DType::Float32, Shape{3}, device, x)};
    for (int i = 0; i < leaves; ++i)  // the offsets add up to 2, 0, 1
      operands.push_back(device_array(i64, Shape{3}, device, {i == 150 ? 2u : 0u, 0, i == 3 ? 1u : 0u}));
    Tree tree(load_at_sum(leaves), operands);
    TensorRef result;
    jit::evaluate(tree.bound(), &result);
    EXPECT_THAT(values_of(*result), ElementsAre(x[2], x[0], x[1])) << to_string(device);
  }
}

// Half of what an offset of 32 bits would reach lies behind the element that is asked for.
TEST(Load, ElementsPastTwoToThe31) {
  constexpr std::int64_t far = (std::int64_t{1} << 31) + 5;
  TensorRef x;
  try {
    x = runtime::empty(Shape{far + 1}, DType::UInt8, Device());
  } catch (const OutOfMemory&) {
    GTEST_SKIP() << "no 2 GB of address space";
  }
  x->data[far] = std::byte{42};  // all of the memory that is touched
  x->data[far - 4] = std::byte{38};
  Written direct, indexed;
  direct.array(DType::UInt8).leaf(i64).op(Op::load);
  TensorRef result;
  jit::evaluate(Tree(direct, {x, array<std::int64_t>({far, far - 4})}).bound(), &result);
  EXPECT_THAT(values<std::uint8_t>(result), ElementsAre(42, 38));
  indexed.array(DType::UInt8).leaf(i64).scalar(Category::Int).scalar(Category::Int).op(Op::axis_offset).op(Op::load);
  result = {};
  jit::evaluate(Tree(indexed, {x, array<std::int64_t>({-1, far - 4})}, {far + 1, std::int64_t{1}}).bound(), &result);
  EXPECT_THAT(values<std::uint8_t>(result), ElementsAre(42, 38));
}

}  // namespace
}  // namespace sinter::testing
