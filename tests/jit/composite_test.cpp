#include <jit/passes/composite.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include <jit/passes/lower.hpp>
#include "closeness.hpp"
#include "interpreter.hpp"
#include "programs.hpp"

namespace sinter::testing {
namespace {

std::vector<Op> composites() {
  std::vector<Op> ops;
  for (int i = static_cast<int>(first_table_op); i < op_count; ++i)
    if (is_composite(static_cast<Op>(i))) ops.push_back(static_cast<Op>(i));
  return ops;
}

std::ptrdiff_t composites_in(const Graph& g) {
  return std::ranges::count_if(g.nodes(), [](const Node& n) { return is_composite(n.op); });
}

/// The operation on leaves 0, 1, ... of one dtype.
Graph of_leaves(Op op, DType t) {
  Graph g;
  std::vector<Operand> leaves;
  for (std::uint32_t k = 0; k < info(op).arity; ++k) leaves.push_back(g.leaf(t, k));
  g.output(g.apply(op, leaves));
  return g;
}

/// With C++ numbers for the last operands, as a call that leaves them out has.
Graph of_one_leaf(Op op, DType t, std::initializer_list<double> numbers) {
  Graph g;
  std::vector<Operand> operands{g.leaf(t, 0)};
  for (const double number : numbers) operands.push_back(g.constant(f64, std::bit_cast<std::uint64_t>(number)));
  g.output(g.apply(op, operands));
  return g;
}

TEST(Composite, ExpandsToTheSameValuesOnEveryDtype) {
  std::mt19937_64 random(7);
  int taken = 0;
  for (const Op op : composites()) {
    for (int d = 0; d < real_dtype_count; ++d) {
      const auto t = static_cast<DType>(d);
      const std::vector<OperandType> types(info(op).arity, OperandType{t});
      const OpTypes rule = op_types(op, types);
      if (!rule.ok || is_complex(rule.result)) continue;
      ++taken;
      SCOPED_TRACE(::testing::Message() << name(op) << " of " << name(t));
      const Graph written = of_leaves(op, t), expanded = jit::lower(written);
      ASSERT_EQ(composites_in(expanded), 0);
      ASSERT_EQ(expanded[expanded.outputs()[0]].dtype, rule.result);
      for (int sample = 0; sample < 400; ++sample) {
        std::vector<std::uint64_t> leaves, computed;
        for (std::size_t k = 0; k < types.size(); ++k) {
          leaves.push_back(special_bits(t, random));
          computed.push_back(converted_bits(leaves.back(), t, rule.compute));
        }
        const std::uint64_t expected = outputs_of(written, leaves, {})[0], got = outputs_of(expanded, leaves, {})[0];
        ASSERT_TRUE(test::close(op, rule.result, computed, rule.compute, expected, got))
            << "expected " << test::show(rule.result, expected) << ", got " << test::show(rule.result, got) << " from "
            << test::show(t, leaves[0]);
      }
    }
  }
  EXPECT_GT(taken, 100);
}

TEST(Composite, LeavesOtherGraphsAsTheyAre) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const Graph g = random_program(random, 60).record();
    const Graph expanded = jit::expand_composites(g);
    ASSERT_EQ(composites_in(expanded), 0);
    if (composites_in(g) == 0) {
      ASSERT_EQ(expanded, g);
    }
    ASSERT_EQ(expanded.outputs().size(), g.outputs().size());
  }
}

TEST(Composite, GrowsWithTheGraphAndNotFaster) {
  for (const int length : {1000, 20'000}) {
    Graph g;
    Operand x = g.leaf(f32, 0);
    for (int i = 0; i < length; ++i) {
      const Operand both[] = {x, x};
      x = g.apply(Op::logaddexp, both);  // which names each operand three times
    }
    g.output(x);
    const Graph simplified = jit::simplify(g);
    EXPECT_LE(operations(jit::expand_composites(g)), 12 * length);
    EXPECT_LE(operations(simplified), 12 * length);
    EXPECT_EQ(composites_in(simplified), 0);
  }
}

TEST(Composite, DefaultsFoldAway) {
  const auto left = [](const Graph& g) { return operations(jit::simplify(g)); };
  EXPECT_EQ(left(of_one_leaf(Op::logit, f32, {-1})), 3);          // log(a / (1 - a))
  EXPECT_EQ(left(of_one_leaf(Op::softplus, f32, {1, 20})), 4);    // where(a > 20, a, log1p(exp(a)))
  EXPECT_EQ(left(of_one_leaf(Op::softplus, f32, {0.5, 20})), 6);  // beta is a factor and a divisor
  EXPECT_EQ(left(of_one_leaf(Op::elu, f64, {1})), 3);             // where(a <= 0, expm1(a), a)
  EXPECT_EQ(left(of_one_leaf(Op::celu, f64, {1})), 3);
  EXPECT_EQ(left(of_one_leaf(Op::nan_to_num, DType::Int32, {0})), 0);
  EXPECT_EQ(left(of_one_leaf(Op::positive, f32, {})), 0);
  EXPECT_EQ(left(of_one_leaf(Op::isposinf, DType::Int64, {})), 0);  // false
}

TEST(Composite, CommonPartsAreComputedOnce) {
  const auto count = [](const Graph& g, Op op) { return std::ranges::count(g.nodes(), op, &Node::op); };
  EXPECT_EQ(count(jit::simplify(of_leaves(Op::lcm, DType::Int32)), Op::gcd), 1);
  EXPECT_EQ(count(jit::simplify(of_leaves(Op::digamma, f32)), Op::log), 1);
  EXPECT_EQ(count(jit::simplify(of_leaves(Op::softplus, f32)), Op::mul), 1);
}

TEST(Composite, IsOneKernelOfItsNameInEagerMode) {
  for (const Op op : composites()) {
    const DType t = op_types(op, std::vector<OperandType>(info(op).arity, OperandType{f32})).ok ? f32 : DType::Int32;
    const jit::Plan plan = jit::schedule_eager(of_leaves(op, t));
    ASSERT_EQ(plan.kernels.size(), 1u) << name(op);
    EXPECT_TRUE(plan.kernels[0].name.starts_with("sinter_" + std::string(name(op)) + "_")) << plan.kernels[0].name;
    EXPECT_EQ(composites_in(plan.kernels[0].graph), 0) << name(op);
    EXPECT_EQ(plan.kernels[0].inputs.size(), info(op).arity) << name(op);
  }
}

TEST(Composite, MayStandForItsOperand) {
  Graph g;
  const Operand x = g.leaf(f32, 0), plus[] = {g.apply(Op::positive, {&x, 1})};
  g.output(plus[0]);
  g.output(g.apply(Op::mish, plus));
  g.output(x);
  const Graph expanded = jit::expand_composites(g);
  EXPECT_EQ(expanded.outputs()[0], expanded.outputs()[2]);
  EXPECT_NE(expanded.outputs()[0], expanded.outputs()[1]);
}

TEST(Composite, RefusalsNameTheOperation) {
  const auto refusal = [](Op op, DType t) -> std::string {
    try {
      of_leaves(op, t);
    } catch (const DTypeError& e) {
      return e.what();
    }
    return {};
  };
  EXPECT_EQ(refusal(Op::mish, DType::Int32), "mish(int32): mish takes floats: convert an operand with cast<float>(x)");
  EXPECT_TRUE(refusal(Op::lcm, f32).starts_with("lcm(float32, float32): lcm takes integers, not bool"));
  EXPECT_TRUE(refusal(Op::gcd, DType::Bool).starts_with("gcd(bool, bool): gcd takes integers, not bool"));
  EXPECT_TRUE(
      refusal(Op::hardtanh, DType::Bool).starts_with("hardtanh(bool, bool, bool): hardtanh takes integers and"));
}

}  // namespace
}  // namespace sinter::testing
