// jit::PlanBuilder: parts keep their temporaries apart and read what the whole plan has.
#include <gtest/gtest.h>

#include <jit/plan/plan_builder.hpp>

namespace sinter::testing {
namespace {

using jit::Slot;

jit::Plan part() {
  jit::Plan plan;
  plan.temporaries = {DType::Float32};
  plan.kernels.resize(2);
  plan.kernels[0].inputs = {{Slot::Kind::Leaf, 0}};
  plan.kernels[0].outputs = {{Slot::Kind::Temporary, 0}};
  plan.kernels[1].inputs = {{Slot::Kind::Temporary, 0}};
  plan.kernels[1].outputs = {{Slot::Kind::Output, 0}};
  return plan;
}

TEST(PlanBuilder, PutsPartsTogether) {
  jit::PlanBuilder builder;
  const Slot between = builder.add_temporary(DType::Float32), end{Slot::Kind::Output, 4};
  jit::Sources first, second;
  EXPECT_EQ(first.add({Slot::Kind::Leaf, 9}, {2}), 0u);
  EXPECT_EQ(first.add({Slot::Kind::Leaf, 8}, {2}), 1u);
  EXPECT_EQ(first.add({Slot::Kind::Leaf, 9}, {2}), 0u);
  second.add(between, {2});
  builder.append(part(), first, {&between, 1});
  builder.append(part(), second, {&end, 1});
  const jit::Plan plan = builder.finish();
  ASSERT_EQ(plan.kernels.size(), 4u);
  EXPECT_EQ(plan.kernels[0].inputs[0], (Slot{Slot::Kind::Leaf, 9}));
  EXPECT_EQ(plan.kernels[1].outputs[0], between);
  EXPECT_EQ(plan.kernels[2].inputs[0], between);
  EXPECT_NE(plan.kernels[2].outputs[0], plan.kernels[0].outputs[0]);
  EXPECT_EQ(plan.kernels[3].outputs[0], end);
  EXPECT_EQ(plan.last_use, (std::vector<std::uint32_t>{2, 1, 3}));
}

}  // namespace
}  // namespace sinter::testing
