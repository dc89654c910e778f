// Which values of graphs that reduce are materialized.
#include <jit/plan/costly_values.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "interpreted_plans.hpp"

namespace sinter::testing::plans {
namespace {

/// How many kernels compute an operation.
int computing(Op op, const Plan& plan) {
  return static_cast<int>(std::ranges::count_if(plan.kernels, [op](const Kernel& k) {
    return std::ranges::any_of(k.graph.nodes(), [op](const Node& n) { return n.op == op; });
  }));
}

TEST(CostlyValues, WhatSeveralKernelsReadIsMaterializedIfItIsCostly) {
  for (const Op op : {Op::atan2, Op::mul}) {
    Growing g;
    const Operand x = g.leaf({5, 7}), y = g.op(op, {x, g.leaf({5, 7})});
    g.graph.output(g.reduce(Op::sum, y, last));
    g.graph.output(g.reduce(Op::sum, y, before));
    const Plan plan = g.checked();
    EXPECT_EQ(computing(op, plan), op == Op::atan2 ? 1 : 2) << name(op);
    EXPECT_EQ(plan.kernels.size(), op == Op::atan2 ? 3u : 2u) << name(op);
  }
}

/// Executors keep it from one pass to the next.
TEST(CostlyValues, WhatSeveralPassesReadIsNotMaterialized) {
  Growing g;
  const Operand x = g.leaf({5, 7}), y = g.op(Op::atan2, {x, g.leaf({5, 7})});
  const Operand e = g.op(Op::sub, {y, g.reduce(Op::amax, y, last_kept)});
  g.graph.output(g.op(Op::div, {e, g.reduce(Op::sum, e, last_kept)}));
  EXPECT_EQ(g.checked().kernels.size(), 1u);
}

TEST(CostlyValues, WhatIsRepeatedAlongRowsIsMaterializedIfItIsCostly) {
  for (const Op op : {Op::atan2, Op::mul}) {
    Growing g;
    const Operand x = g.leaf({5, 7}), v = g.leaf({7});
    g.graph.output(g.reduce(Op::sum, g.op(Op::add, {x, g.op(op, {v, v})}), last));
    EXPECT_EQ(g.checked().kernels.size(), op == Op::atan2 ? 2u : 1u) << name(op);
  }
  Growing g;
  const Operand x = g.leaf({5, 7}), c = g.leaf({5, 1});
  g.graph.output(g.reduce(Op::sum, g.op(Op::add, {x, g.op(Op::atan2, {c, c})}), last));
  EXPECT_EQ(g.checked().kernels.size(), 1u) << "computed once per row";
}

/// A tanh costs more than to read it again in the cache, but less than to launch a kernel for few rows.
TEST(CostlyValues, WhatIsRepeatedAlongManyRowsIsMaterializedSooner) {
  Growing g;
  const Operand x = g.leaf({5, 7}), t = g.op(Op::tanh, {g.leaf({7})});
  g.graph.output(g.reduce(Op::sum, g.op(Op::add, {x, t}), last));
  g.graph.output(t);
  const std::vector<Shape> shapes{{5, 7}, {7}};
  const Plan many = jit::schedule(jit::simplify(g.graph), shapes, jit::RowValues::StoredOnCpu);
  EXPECT_EQ(computing(Op::tanh, many), 1);
  EXPECT_EQ(many.kernels.size(), 2u) << "the first writes the output, too";
  const Plan few = jit::schedule(jit::simplify(g.graph), shapes, jit::RowValues::Recomputed);
  EXPECT_EQ(computing(Op::tanh, few), 2);
  EXPECT_EQ(few.kernels.size(), 2u);
}

TEST(CostlyValues, OnlyTheCostlyPartIsMaterialized) {
  Growing g;
  const Operand x = g.leaf({5, 7}), y = g.op(Op::atan2, {x, g.leaf({5, 7})}), z = g.leaf({5, 7});
  g.graph.output(g.reduce(Op::sum, g.op(Op::add, {y, z}), last));
  g.graph.output(g.reduce(Op::sum, g.op(Op::mul, {y, z}), before));
  const Plan plan = g.checked();
  ASSERT_EQ(plan.kernels.size(), 3u);
  EXPECT_THAT(plan.kernels[0].graph.nodes(), ::testing::SizeIs(3));  // atan2 of two leaves
  EXPECT_EQ(computing(Op::add, plan), 1);
}

TEST(CostlyValues, AGroupThatMustRunBeforeComputesACostlyValueItself) {
  Growing g;
  const Operand x = g.leaf({5, 7}), e = g.op(Op::sub, {x, g.reduce(Op::amax, x, last_kept)});
  const Operand y = g.op(Op::atan2, {e, x});
  g.graph.output(g.reduce(Op::sum, y, last));
  g.graph.output(g.reduce(Op::sum, y, before));
  EXPECT_EQ(computing(Op::atan2, g.checked()), 2);
  g.graph.output(g.reduce(Op::sum, g.op(Op::mul, {y, x}), {3, false}));
  EXPECT_EQ(computing(Op::atan2, g.checked()), 2);  // its own, and one for both others
}

}  // namespace
}  // namespace sinter::testing::plans
