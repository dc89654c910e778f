#include <jit/passes/common_subexpressions.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "programs.hpp"

namespace sinter::testing {
namespace {

using jit::EqualScalars;
using jit::Scalar;
using ::testing::ElementsAre;

/// exp(x * s0 + t0) + exp(x * s1 + t1) + ..., or without the t.
Graph exps(int terms, bool with_addends = false) {
  Written p;
  for (int i = 0; i < terms; ++i) {
    p.leaf(f32, i > 0 ? 0 : -1).scalar(Category::Float).op(Op::mul);
    if (with_addends) p.scalar(Category::Float).op(Op::add);
    p.op(Op::exp);
    if (i > 0) p.op(Op::add);
  }
  return p.record();
}

std::ptrdiff_t count(const Graph& g, Op op) { return std::ranges::count(g.nodes(), op, &Node::op); }

TEST(CommonSubexpressions, EqualNodesAreOne) {
  Graph g;
  const Operand x = g.leaf(f32, 0), again = g.leaf(f32, 0), y = g.leaf(f32, 1);
  for (const Operand o : {x, again, y}) g.output(g.apply(Op::exp, std::vector{o}));
  g.output(g.apply(Op::log, std::vector{x}));
  g.output(g.cast(x, f64));
  const Graph merged = jit::eliminate_common_subexpressions(g);
  EXPECT_EQ(to_text(merged),
            "%0 = leaf 0 float32\n%1 = leaf 1 float32\n%2 = exp(%0) float32\n%3 = exp(%1) float32\n%4 = log(%0) "
            "float32\n%5 = cast(%0) float64\noutput %2\noutput %2\noutput %3\noutput %4\noutput %5\n");
}

TEST(CommonSubexpressions, ScalarsAreComparedByPositionInEqualStructures) {
  const EqualScalars sums(exps(3)), products(exps(2, true));
  const Scalar abc[] = {1., 2., 3.}, aba[] = {1., 2., 1.}, aab[] = {1., 1., 2.}, zeros[] = {0., -0., 0.};
  EXPECT_THAT(sums.pattern(abc), ElementsAre(0, 1, 2));
  EXPECT_THAT(sums.pattern(aba), ElementsAre(0, 1, 0));
  EXPECT_THAT(sums.pattern(aab), ElementsAre(0, 0, 2));
  EXPECT_THAT(sums.pattern(zeros), ElementsAre(0, 1, 0));
  // The factors, then the addends: a factor is never compared with an addend.
  const Scalar both[] = {2., 1., 2., 1.}, factors[] = {2., 1., 2., 3.}, across[] = {2., 2., 3., 3.};
  EXPECT_THAT(products.pattern(both), ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(products.pattern(factors), ElementsAre(0, 0, 2, 3));
  EXPECT_THAT(products.pattern(across), ElementsAre(0, 1, 2, 3));
}

TEST(CommonSubexpressions, PatternsThatDifferOrHold) {
  EXPECT_TRUE(EqualScalars::all_differ({}));
  EXPECT_TRUE(EqualScalars::all_differ({0, 1, 2}));
  EXPECT_FALSE(EqualScalars::all_differ({0, 1, 0}));
  EXPECT_FALSE(EqualScalars::all_differ({0, 0, 0}));
  EXPECT_TRUE(EqualScalars::satisfies({0, 0, 2}, {0, 0, 0}));  // more are equal than assumed
  EXPECT_TRUE(EqualScalars::satisfies({0, 1, 2}, {0, 0, 2}));
  EXPECT_FALSE(EqualScalars::satisfies({0, 0, 0}, {0, 0, 2}));
  EXPECT_FALSE(EqualScalars::satisfies({0, 1, 0}, {0, 0, 2}));
}

TEST(CommonSubexpressions, CallsWithEqualScalarsAreMerged) {
  const Graph g = exps(3);
  const EqualScalars equal(g);
  EXPECT_EQ(equal.specialize(g, {0, 1, 2}), std::nullopt);
  const std::optional<Graph> two = equal.specialize(g, {0, 1, 0}), one = equal.specialize(g, {0, 0, 0});
  ASSERT_TRUE(two && one);
  EXPECT_EQ(count(*two, Op::exp), 2) << to_text(*two);
  EXPECT_EQ(count(*one, Op::exp), 1) << to_text(*one);
  const std::uint64_t x = to_bits(0.5f), scalars[] = {to_bits(2.), to_bits(3.), to_bits(2.)};
  EXPECT_EQ(outputs_of(*two, {&x, 1}, scalars), outputs_of(g, {&x, 1}, scalars));
  Graph several = g;
  several.output(several.apply(Op::neg, std::vector{g.outputs()[0]}));
  const std::optional<Graph> merged = equal.specialize(several, {0, 1, 0});
  ASSERT_TRUE(merged);
  EXPECT_EQ(outputs_of(*merged, {&x, 1}, scalars), outputs_of(several, {&x, 1}, scalars));
}

TEST(CommonSubexpressions, NothingIsComparedThatSavesNothing) {
  EXPECT_TRUE(EqualScalars(exps(1)).is_trivial());
  EXPECT_FALSE(EqualScalars(exps(2)).is_trivial());
  EXPECT_TRUE(EqualScalars(exps(2), {0, 1}).is_trivial());
  EXPECT_TRUE(EqualScalars(exps(2), {1}).is_trivial());  // one alone has nothing to be equal to
  Written cheap, kinds;
  cheap.leaf(f32).scalar(Category::Float).op(Op::add).leaf(f32, 0).scalar(Category::Float).op(Op::add).op(Op::mul);
  EXPECT_TRUE(EqualScalars(cheap.record()).is_trivial());
  kinds.leaf(f32).scalar(Category::Float).op(Op::mul).op(Op::exp);
  kinds.leaf(f32, 0).scalar(Category::Int).op(Op::mul).op(Op::exp).op(Op::add);
  EXPECT_TRUE(EqualScalars(kinds.record()).is_trivial());
}

// Every evaluation compares them.
TEST(CommonSubexpressions, ComparisonsAreBounded) {
  EXPECT_FALSE(EqualScalars(exps(16)).is_trivial());  // 120 pairs
  EXPECT_TRUE(EqualScalars(exps(17)).is_trivial());
  EXPECT_EQ(EqualScalars(exps(10, true)).pattern(std::vector<Scalar>(20, 1.).data()).size(), 20u);  // twice 45
  EXPECT_EQ(EqualScalars(exps(15, true)).pattern(std::vector<Scalar>(30, 1.).data()).size(), 15u);  // 105, and no more
}

}  // namespace
}  // namespace sinter::testing
