// Plans of graphs that reduce, checked without any executor: kernels are interpreted element by element, as Kernel is
// documented, and must give what the graph gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include <jit/infer/shapes.hpp>
#include <jit/plan/plan.hpp>
#include <jit/plan/row_stages.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::testing {
namespace {

using jit::AxisMapping;
using jit::Graph;
using jit::Kernel;
using jit::Node;
using jit::Operand;
using jit::Plan;
using jit::ReduceAxes;
using jit::Slot;

/// Row-major elements.
struct Array {
  Shape shape;
  std::vector<double> values;
};

/// The element of `a` at the place of the element number `i` of `whole`, which it broadcasts to.
double at(const Array& a, const Shape& whole, std::int64_t i) {
  std::int64_t offset = 0, step = 1;
  for (int axis = -1; axis >= -whole.ndim(); --axis) {
    const std::int64_t c = i % whole[axis];
    i /= whole[axis];
    if (-axis > a.shape.ndim()) continue;
    offset += a.shape[axis] == 1 ? 0 : c * step;
    step *= a.shape[axis];
  }
  return a.values[static_cast<std::size_t>(offset)];
}

double combine(Op op, double a, double b) { return op == Op::amax ? std::max(a, b) : op == Op::prod ? a * b : a + b; }
double first_of(Op op) { return op == Op::amax ? -INFINITY : op == Op::prod ? 1 : 0; }

double elementwise(Op op, const std::vector<double>& v) {
  switch (op) {
    case Op::add: return v[0] + v[1];
    case Op::sub: return v[0] - v[1];
    case Op::mul: return v[0] * v[1];
    case Op::div: return v[0] / v[1];
    case Op::fma: return v[0] * v[1] + v[2];
    case Op::neg: return -v[0];
    case Op::abs: return std::fabs(v[0]);
    case Op::atan2: return std::atan2(v[0], v[1]);
    case Op::where: return v[0] != 0 ? v[1] : v[2];
    case Op::broadcast_like:
    case Op::cast: return v[0];
    default: throw Error("the test does not compute " + std::string(name(op)));
  }
}

double constant_of(const Node& n) {
  return std::bit_cast<double>(jit::convert_bits(n.attribute, n.dtype, DType::Float64));
}

/// The number of the first element of element `i`'s row, in a domain reduced along these axes.
std::int64_t first_of_row(std::int64_t i, const Shape& domain, std::uint8_t axes) {
  std::int64_t first = 0, step = 1;
  for (int axis = -1; axis >= -domain.ndim(); --axis) {
    if (!(axes >> (-axis - 1) & 1)) first += i % domain[axis] * step;
    i /= domain[axis];
    step *= domain[axis];
  }
  return first;
}

/// A graph's values, by its nodes.
std::vector<Array> values_of(const Graph& graph, const std::vector<Array>& leaves) {
  std::vector<Shape> leaf_shapes;
  for (const Array& a : leaves) leaf_shapes.push_back(a.shape);
  const std::vector<Shape> shapes = jit::shapes_of(graph, leaf_shapes);
  std::vector<Array> values;
  for (std::size_t id = 0; id < shapes.size(); ++id) {
    const Node& n = graph.nodes()[id];
    Array made{shapes[id], std::vector<double>(static_cast<std::size_t>(shapes[id].numel()))};
    const auto operand = [&](std::size_t k) -> const Array& {
      return values[static_cast<std::size_t>(graph.operands(n)[k].node)];
    };
    if (n.op == Op::leaf) {
      made = leaves[n.attribute];
    } else if (n.op == Op::constant) {
      made.values[0] = constant_of(n);
    } else if (is_reduction(n.op)) {
      const Array& from = operand(0);
      const ReduceAxes along = ReduceAxes::of(n.attribute);
      const Shape kept = jit::reduced_shape(from.shape, {along.axes, true});
      Array sums{kept, std::vector<double>(static_cast<std::size_t>(kept.numel()), first_of(n.op))};
      for (std::int64_t i = 0; i < from.shape.numel(); ++i) {
        std::int64_t offset = 0, step = 1, rest = i;
        for (int axis = -1; axis >= -from.shape.ndim(); --axis) {
          offset += kept[axis] == 1 ? 0 : rest % from.shape[axis] * step;
          rest /= from.shape[axis];
          step *= kept[axis];
        }
        double& sum = sums.values[static_cast<std::size_t>(offset)];
        sum = combine(n.op, sum, n.op == Op::count ? 1 : from.values[static_cast<std::size_t>(i)]);
      }
      made.values = sums.values;
    } else {
      for (std::int64_t i = 0; i < made.shape.numel(); ++i) {
        std::vector<double> v;
        for (std::size_t k = 0; k < n.arity; ++k) v.push_back(at(operand(k), made.shape, i));
        made.values[static_cast<std::size_t>(i)] = elementwise(n.op, v);
      }
    }
    values.push_back(std::move(made));
  }
  return values;
}

/// Runs a plan's kernels one after the other.
class PlanInterpreter {
 public:
  PlanInterpreter(const Plan& plan, const std::vector<Array>& leaves)
      : plan_(plan), leaves_(leaves), temporaries_(plan.temporaries.size()), outputs_(plan.graph.outputs().size()) {}

  std::vector<Array> run() {
    for (const Kernel& k : plan_.kernels) pass(k);
    return outputs_;
  }

 private:
  const Array& array(const Slot& s) const {
    if (s.kind == Slot::Kind::Leaf) return leaves_[s.number];
    EXPECT_EQ(s.kind, Slot::Kind::Temporary);
    EXPECT_TRUE(temporaries_[s.number].has_value()) << "a temporary is read before it is written";
    return *temporaries_[s.number];
  }

  Shape domain_of(const Kernel& k) const {
    Shape shape;
    const auto add = [&](const Slot& s) { EXPECT_TRUE(broadcast(shape, array(s).shape)); };
    for (std::size_t i = 0; i < k.inputs.size(); ++i)
      if (!k.rows || k.rows->axis_mapping[k.outputs.size() + i] != AxisMapping::Rows) add(k.inputs[i]);
    if (k.rows)
      for (const Slot& s : k.rows->domain) add(s);
    return shape;
  }

  /// An input as it lies over the domain.
  double input(const Kernel& k, std::size_t number, const Shape& domain, std::int64_t i) const {
    const Array& a = array(k.inputs[number]);
    if (!k.rows || k.rows->axis_mapping[k.outputs.size() + number] != AxisMapping::Rows) {
      if (k.rows && k.rows->axis_mapping[k.outputs.size() + number] == AxisMapping::Kept) {
        EXPECT_EQ(at(a, domain, i), at(a, domain, first_of_row(i, domain, k.rows->axes)));
      }
      return at(a, domain, i);
    }
    const Shape rows = jit::reduced_shape(domain, {k.rows->axes, false});
    std::int64_t row = 0, step = 1;
    for (int axis = -1; axis >= -domain.ndim(); --axis) {
      if (!(k.rows->axes >> (-axis - 1) & 1)) row += i % domain[axis] * step, step *= domain[axis];
      i /= domain[axis];
    }
    return at(a, rows, row);
  }

  void pass(const Kernel& k) {
    const Shape domain = domain_of(k);
    const std::int64_t numel = domain.numel();
    std::vector<std::vector<double>> values;
    for (const Node& n : k.graph.nodes()) {
      std::vector<double> made(static_cast<std::size_t>(numel));
      const auto operand = [&](std::size_t o) -> const std::vector<double>& {
        return values[static_cast<std::size_t>(k.graph.operands(n)[o].node)];
      };
      if (is_reduction(n.op)) {
        std::vector<double> sums(static_cast<std::size_t>(numel), first_of(n.op));
        for (std::int64_t i = 0; i < numel; ++i) {
          double& sum = sums[static_cast<std::size_t>(first_of_row(i, domain, k.rows->axes))];
          sum = combine(n.op, sum, n.op == Op::count ? 1 : operand(0)[static_cast<std::size_t>(i)]);
        }
        for (std::int64_t i = 0; i < numel; ++i)
          made[static_cast<std::size_t>(i)] = sums[static_cast<std::size_t>(first_of_row(i, domain, k.rows->axes))];
      } else {
        for (std::int64_t i = 0; i < numel; ++i) {
          std::vector<double> v;
          for (std::size_t o = 0; o < n.arity; ++o) v.push_back(operand(o)[static_cast<std::size_t>(i)]);
          made[static_cast<std::size_t>(i)] = n.op == Op::leaf       ? input(k, n.attribute, domain, i)
                                              : n.op == Op::constant ? constant_of(n)
                                                                     : elementwise(n.op, v);
        }
      }
      values.push_back(std::move(made));
    }
    check_stages(k);
    for (std::size_t o = 0; o < k.outputs.size(); ++o)
      store(k, o, domain, values[static_cast<std::size_t>(k.graph.outputs()[o].node)]);
  }

  /// What executors are told agrees with the outputs.
  void check_stages(const Kernel& k) const {
    if (!k.rows) return;
    const jit::RowStages stages(k);
    for (std::size_t o = 0; o < k.outputs.size(); ++o)
      EXPECT_EQ(stages.is_per_row(k.graph.outputs()[o]), k.rows->axis_mapping[o] != AxisMapping::Domain) << k.name;
  }

  void store(const Kernel& k, std::size_t o, const Shape& domain, const std::vector<double>& values) {
    Array made{domain, {}};
    if (!k.rows || k.rows->axis_mapping[o] == AxisMapping::Domain) {
      made.values = values;
    } else {
      made.shape = jit::reduced_shape(domain, {k.rows->axes, k.rows->axis_mapping[o] == AxisMapping::Kept});
      for (std::int64_t i = 0; i < domain.numel(); ++i)
        if (first_of_row(i, domain, k.rows->axes) == i) made.values.push_back(values[static_cast<std::size_t>(i)]);
    }
    (k.outputs[o].kind == Slot::Kind::Output ? outputs_[k.outputs[o].number]
                                             : temporaries_[k.outputs[o].number].emplace()) = std::move(made);
  }

  const Plan& plan_;
  const std::vector<Array>& leaves_;
  std::vector<std::optional<Array>> temporaries_;
  std::vector<Array> outputs_;
};

Plan schedule(const Graph& graph, const std::vector<Array>& leaves, bool eager = false) {
  std::vector<Shape> shapes;
  for (const Array& a : leaves) shapes.push_back(a.shape);
  return eager ? jit::schedule_rows_eager(graph, shapes) : jit::schedule_rows(jit::simplify(graph), shapes);
}

void expect_equal(const Graph& graph, const std::vector<Array>& leaves, const Plan& plan) {
  const std::vector<Array> expected = values_of(graph, leaves), found = PlanInterpreter(plan, leaves).run();
  for (std::size_t o = 0; o < found.size(); ++o) {
    const Array& e = expected[static_cast<std::size_t>(graph.outputs()[o].node)];
    ASSERT_EQ(found[o].shape, e.shape) << "output " << o;
    for (std::size_t i = 0; i < e.values.size(); ++i)
      ASSERT_NEAR(found[o].values[i], e.values[i], 1e-9 * (1 + std::fabs(e.values[i]))) << "output " << o << ", " << i;
  }
}

Array filled(const Shape& shape, std::mt19937& random) {
  Array a{shape, std::vector<double>(static_cast<std::size_t>(shape.numel()))};
  for (double& v : a.values) v = std::uniform_real_distribution(-1.5, 1.5)(random);
  return a;
}

/// A graph that grows from leaves.
struct Growing {
  Graph graph;
  std::vector<Array> leaves;
  std::mt19937 random{7};

  Operand leaf(const Shape& shape) {
    leaves.push_back(filled(shape, random));
    return graph.leaf(DType::Float64, static_cast<std::uint32_t>(leaves.size() - 1));
  }
  Operand op(Op op, std::initializer_list<Operand> operands) {
    return graph.apply(op, std::span(operands.begin(), operands.size()));
  }
  Operand reduce(Op op, Operand a, ReduceAxes along) { return graph.apply(op, {&a, 1}, along); }
  Plan checked() {
    const Plan plan = schedule(graph, leaves);
    expect_equal(graph, leaves, plan);
    expect_equal(graph, leaves, schedule(graph, leaves, true));
    return plan;
  }
};

constexpr ReduceAxes last{1, false}, last_kept{1, true}, before{2, false};

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
  Growing g;
  const Operand x = g.leaf({6, 6});
  g.graph.output(g.op(Op::sub, {x, g.reduce(Op::sum, x, before)}));
  EXPECT_EQ(g.checked().kernels.size(), 1u);
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
  const Plan plan = jit::schedule_rows(std::move(g), std::vector<Shape>{{2, 3, 4}});
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

/// How many kernels compute an operation.
int computing(Op op, const Plan& plan) {
  return static_cast<int>(std::ranges::count_if(plan.kernels, [op](const Kernel& k) {
    return std::ranges::any_of(k.graph.nodes(), [op](const Node& n) { return n.op == op; });
  }));
}

TEST(RowSchedule, WhatSeveralKernelsReadIsMaterializedIfItIsCostly) {
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
TEST(RowSchedule, WhatSeveralPassesReadIsNotMaterialized) {
  Growing g;
  const Operand x = g.leaf({5, 7}), y = g.op(Op::atan2, {x, g.leaf({5, 7})});
  const Operand e = g.op(Op::sub, {y, g.reduce(Op::amax, y, last_kept)});
  g.graph.output(g.op(Op::div, {e, g.reduce(Op::sum, e, last_kept)}));
  EXPECT_EQ(g.checked().kernels.size(), 1u);
}

TEST(RowSchedule, WhatIsRepeatedAlongRowsIsMaterializedIfItIsCostly) {
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

TEST(RowSchedule, OnlyTheCostlyPartIsMaterialized) {
  Growing g;
  const Operand x = g.leaf({5, 7}), y = g.op(Op::atan2, {x, g.leaf({5, 7})}), z = g.leaf({5, 7});
  g.graph.output(g.reduce(Op::sum, g.op(Op::add, {y, z}), last));
  g.graph.output(g.reduce(Op::sum, g.op(Op::mul, {y, z}), before));
  const Plan plan = g.checked();
  ASSERT_EQ(plan.kernels.size(), 3u);
  EXPECT_THAT(plan.kernels[0].graph.nodes(), ::testing::SizeIs(3));  // atan2 of two leaves
  EXPECT_EQ(computing(Op::add, plan), 1);
}

TEST(RowSchedule, AGroupThatMustRunBeforeComputesACostlyValueItself) {
  Growing g;
  const Operand x = g.leaf({5, 7}), e = g.op(Op::sub, {x, g.reduce(Op::amax, x, last_kept)});
  const Operand y = g.op(Op::atan2, {e, x});
  g.graph.output(g.reduce(Op::sum, y, last));
  g.graph.output(g.reduce(Op::sum, y, before));
  EXPECT_EQ(computing(Op::atan2, g.checked()), 2);
  g.graph.output(g.reduce(Op::sum, g.op(Op::mul, {y, x}), {3, false}));
  EXPECT_EQ(computing(Op::atan2, g.checked()), 2);  // its own, and one for both others
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
  const Plan plan = jit::schedule_rows(g, std::vector<Shape>{{4, 5}});
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
}  // namespace sinter::testing
