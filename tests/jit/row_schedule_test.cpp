// Plans of graphs that reduce, interpreted element by element.
#include <jit/plan/plan.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

#include <sinter/runtime/error.hpp>
#include "interpreted_plans.hpp"

namespace sinter::testing::plans {
namespace {

TEST(RowSchedule, ProducersAndConsumersShareTheKernel) {
  Growing g;
  const Operand x = g.leaf({5, 6}), mask = g.leaf({6}), gain = g.leaf({6});
  const Operand logits = g.op(Op::add, {g.op(Op::mul, {x, x}), mask});
  const Operand e = g.op(Op::sub, {logits, g.reduce(Op::amax, logits, last_kept)});
  const Operand softmax = g.op(Op::div, {e, g.reduce(Op::sum, e, last_kept)});
  g.graph.output(g.op(Op::mul, {softmax, gain}));
  const Plan plan = g.checked();
  ASSERT_EQ(plan.kernels.size(), 1u);
  EXPECT_EQ(plan.kernels[0].rows->axes, 1);
  EXPECT_THAT(plan.kernels[0].inputs, ::testing::SizeIs(3));
  EXPECT_EQ(jit::RowStages(plan.kernels[0]).count, 2);
}

TEST(RowSchedule, ReductionsOfOneInputTakeOnePass) {
  Growing g;
  const Operand x = g.leaf({4, 3, 2});
  for (const Op op : {Op::sum, Op::amax, Op::prod}) g.graph.output(g.reduce(op, x, {3, op == Op::sum}));
  g.graph.output(g.op(Op::mul, {x, x}));
  const Plan plan = g.checked();
  ASSERT_EQ(plan.kernels.size(), 1u);
  EXPECT_THAT(plan.kernels[0].inputs, ::testing::SizeIs(1));
}

TEST(RowSchedule, WorkOnResultsWithoutTheAxesIsInTheKernel) {
  Growing g;
  const Operand x = g.leaf({4, 6}), bias = g.leaf({4});
  g.graph.output(g.op(Op::add, {g.reduce(Op::sum, x, last), bias}));
  const Plan plan = g.checked();
  ASSERT_EQ(plan.kernels.size(), 1u);
  EXPECT_EQ(plan.kernels[0].rows->axis_mapping[2], AxisMapping::Rows);
}

TEST(RowSchedule, AResultThatMeetsOtherAxesTakesAnotherKernel) {
  Growing g;
  const Operand x = g.leaf({6, 6});
  g.graph.output(g.op(Op::sub, {x, g.reduce(Op::sum, x, last)}));  // sums of rows, spread along columns
  EXPECT_EQ(g.checked().kernels.size(), 2u);
}

TEST(RowSchedule, LeadingAxesNeedNotBeKept) {
  for (const ReduceAxes axes : {before, ReduceAxes{3, false}}) {
    Growing g;
    const Operand x = g.leaf({6, 6});
    g.graph.output(g.op(Op::sub, {x, g.reduce(Op::sum, x, axes)}));
    EXPECT_EQ(g.checked().kernels.size(), 1u) << int{axes.axes};
  }
}

TEST(RowSchedule, OtherAxesTakeAnotherKernelWhichReadsOnlyTheResults) {
  Growing g;
  const Operand x = g.leaf({5, 7});
  const Operand centered = g.op(Op::sub, {x, g.reduce(Op::sum, x, last_kept)});
  g.graph.output(g.reduce(Op::sum, centered, before));
  const Plan plan = g.checked();
  ASSERT_EQ(plan.kernels.size(), 2u);
  EXPECT_EQ(plan.temporaries.size(), 1u);  // the sums, not the differences
  EXPECT_THAT(plan.kernels[1].inputs, ::testing::SizeIs(2));
}

TEST(RowSchedule, WhatIsMadeOfResultsAlonePassesInTheirPlace) {
  Growing g;
  const Operand x = g.leaf({5, 7});
  const Operand count = g.graph.cast(g.reduce(Op::count, x, last_kept), DType::Float64);
  const Operand mean = g.op(Op::div, {g.reduce(Op::sum, x, last_kept), count});
  g.graph.output(g.reduce(Op::sum, g.op(Op::sub, {x, mean}), before));
  const Plan plan = g.checked();
  ASSERT_EQ(plan.kernels.size(), 2u);
  EXPECT_EQ(plan.temporaries.size(), 1u);  // means, neither sums nor counts
  EXPECT_THAT(plan.kernels[1].inputs, ::testing::SizeIs(2));
}

TEST(RowSchedule, AShapeThatASimplerValueLacksIsKept) {
  Growing g;
  const Operand x = g.leaf({5, 7}), one = g.graph.constant(DType::Float64, std::bit_cast<std::uint64_t>(1.0));
  const Operand ones = g.op(Op::pow, {x, g.graph.constant(DType::Float64, 0)});  // 1, whatever x is
  g.graph.output(g.reduce(Op::sum, ones, last));
  g.graph.output(ones);
  const Plan plan = schedule(g.graph, g.leaves);
  const std::vector<Array> found = PlanInterpreter(plan, g.leaves).run();
  EXPECT_EQ(found[0].shape, (Shape{5}));
  EXPECT_THAT(found[0].values, ::testing::Each(7.0));
  EXPECT_EQ(found[1].shape, (Shape{5, 7}));
  (void)one;
}

TEST(RowSchedule, AReductionThatGivesAShapeAloneTakesNoKernel) {
  Graph g;
  const Operand x = g.leaf(DType::Float32, 0);
  const Operand sum = g.node(Op::sum, DType::Float32, {&x, 1}, ReduceAxes{1, true}.bits());     // (2, 3, 1)
  const Operand other = g.node(Op::amax, DType::Float32, {&x, 1}, ReduceAxes{5, true}.bits());  // (1, 3, 1)
  const Operand operands[] = {sum, other};
  g.output(g.node(Op::broadcast_like, DType::Float32, operands));
  const Plan plan = jit::schedule(std::move(g), std::vector<Shape>{{2, 3, 4}}, jit::RowValues::Recomputed);
  EXPECT_EQ(plan.kernels.size(), 1u);
}

TEST(RowSchedule, CountsReadNothing) {
  Growing g;
  const Operand x = g.leaf({5, 7});
  g.graph.output(g.reduce(Op::count, x, last));
  const Plan plan = g.checked();
  ASSERT_EQ(plan.kernels.size(), 1u);
  EXPECT_THAT(plan.kernels[0].inputs, ::testing::IsEmpty());
  EXPECT_THAT(plan.kernels[0].rows->domain, ::testing::SizeIs(1));
}

TEST(RowSchedule, MoreThanAKernelHoldsIsComputedBefore) {
  Growing g;
  Operand x = g.leaf({3, 4});
  const Operand y = g.leaf({3, 4});
  for (int i = 0; i < 700; ++i) x = g.op(i % 2 ? Op::add : Op::sub, {x, y});
  const Operand sum = g.reduce(Op::sum, x, last_kept);
  Operand after = g.op(Op::sub, {y, sum});
  for (int i = 0; i < 700; ++i) after = g.op(i % 2 ? Op::add : Op::sub, {after, y});
  g.graph.output(after);
  g.graph.output(x);
  EXPECT_GT(g.checked().kernels.size(), 2u);
}

TEST(RowSchedule, AKernelHoldsSoManyInputsAndReductions) {
  Growing leaves, of_one;
  const Operand x = of_one.leaf({2, 3});
  Operand power = x, sum = of_one.graph.constant(DType::Float64, 0), total = sum;
  total = leaves.graph.constant(DType::Float64, 0);
  for (int i = 0; i < 150; ++i) {
    total = leaves.op(Op::add, {total, leaves.reduce(Op::sum, leaves.leaf({2, 3}), last)});
    power = of_one.op(Op::mul, {power, x});
    sum = of_one.op(Op::add, {sum, of_one.reduce(Op::amax, power, last)});
  }
  leaves.graph.output(total);
  of_one.graph.output(sum);
  for (Growing* g : {&leaves, &of_one})
    for (const Kernel& k : g->checked().kernels) EXPECT_LE(k.inputs.size() + k.outputs.size(), 128u) << k.name;
}

/// Thousands of reductions, each of the one before: every search is over what it finds.
TEST(RowSchedule, AChainOfThousandsIsCutIntoKernels) {
  Graph g;
  Operand y = g.leaf(DType::Float64, 0);
  constexpr int reductions = 4000;
  for (int i = 0; i < reductions; ++i) {
    const Operand operands[] = {y,
                                g.apply(i % 2 ? Op::amax : Op::sum, {&y, 1}, i % 3 ? last_kept : ReduceAxes{2, true})};
    y = g.apply(Op::sub, operands);
  }
  g.output(y);
  const Plan plan = jit::schedule(g, std::vector<Shape>{{4, 5}}, jit::RowValues::Recomputed);
  EXPECT_GT(plan.kernels.size(), 100u);
  int found = 0;
  for (const Kernel& k : plan.kernels)
    for (const Node& n : k.graph.nodes()) found += is_reduction(n.op);
  EXPECT_GE(found, reductions);
}

TEST(RowSchedule, Refusals) {
  Growing g;
  const Operand x = g.leaf({5, 0});
  EXPECT_NO_THROW(jit::shapes_of(g.graph, std::vector<Shape>{{5, 0}}));
  g.graph.output(g.reduce(Op::amax, x, last));
  const std::vector<Shape> shapes = jit::shapes_of(g.graph, std::vector<Shape>{{5, 0}});
  EXPECT_THROW(jit::check_has_elements(g.graph, shapes), IndexError);
  Growing h;
  h.graph.output(h.reduce(Op::sum, h.leaf({5}), before));
  EXPECT_THROW(schedule(h.graph, h.leaves), IndexError);
}

/// Any graph of a few operations over tensors whose shapes meet.
class Random : public ::testing::TestWithParam<int> {};

TEST_P(Random, Graphs) {
  Growing g;
  g.random.seed(static_cast<unsigned>(GetParam()));
  const auto draw = [&](int n) { return static_cast<int>(g.random() % static_cast<unsigned>(n)); };
  const Shape shapes[] = {{3, 2, 3}, {2, 3}, {3, 1, 3}, {3}, {1, 2, 1}, {}, {3, 3}, {1, 1}, {1}};
  std::vector<Operand> values;
  for (int i = 0; i < 2 + draw(3); ++i) values.push_back(g.leaf(shapes[draw(std::size(shapes))]));
  for (int i = 0; i < 4 + draw(14); ++i) {
    const Operand a = values[values.size() - 1 - static_cast<std::size_t>(draw(std::min<int>(4, std::ssize(values))))];
    const Operand b = values[static_cast<std::size_t>(draw(static_cast<int>(values.size())))];
    std::vector<Shape> leaf_shapes;
    for (const Array& l : g.leaves) leaf_shapes.push_back(l.shape);
    const std::vector<Shape> known = jit::shapes_of(g.graph, leaf_shapes);
    Shape merged = known[static_cast<std::size_t>(a.node)];
    const int ndim = merged.ndim();
    if (draw(5) < 2) {
      const int axes = draw(4) == 0 ? ReduceAxes::all_axes : draw(1 << std::max(ndim, 1));
      constexpr Op ops[] = {Op::sum, Op::amax, Op::sum, Op::count};
      const Operand reduced = g.reduce(ops[draw(4)], a, {static_cast<std::uint8_t>(axes), draw(2) == 0});
      values.push_back(g.graph[reduced].dtype == DType::Float64 ? reduced : g.graph.cast(reduced, DType::Float64));
    } else if (broadcast(merged, known[static_cast<std::size_t>(b.node)]) && merged.numel() <= 100) {
      constexpr Op ops[] = {Op::add, Op::sub, Op::mul, Op::atan2};
      values.push_back(g.op(ops[draw(std::size(ops))], {a, b}));
    } else {
      values.push_back(g.op(Op::neg, {a}));
    }
  }
  g.graph.output(values.back());
  for (int i = 0; i < draw(3); ++i)
    g.graph.output(values[static_cast<std::size_t>(draw(static_cast<int>(values.size())))]);
  g.checked();
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, ::testing::Range(0, 400));

}  // namespace
}  // namespace sinter::testing::plans
