// The shapes of a graph's values, and that a simplified graph has those of the one that was written.
#include <jit/infer/shapes.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "programs.hpp"

namespace sinter::testing {
namespace {

using jit::ReduceAxes;
using ::testing::HasSubstr;

Operand apply(Graph& g, Op op, std::initializer_list<Operand> o, ReduceAxes along = {}) {
  return g.apply(op, {o.begin(), o.size()}, along);
}

/// Of the outputs; nothing where operands do not broadcast.
std::optional<std::vector<Shape>> output_shapes(const Graph& g, const std::vector<Shape>& leaves) {
  try {
    const std::vector<Shape> all = jit::shapes_of(g, leaves);
    std::vector<Shape> shapes;
    for (const Operand o : g.outputs()) shapes.push_back(all[static_cast<std::size_t>(o.node)]);
    return shapes;
  } catch (const ShapeError&) {
    return std::nullopt;
  }
}

std::ptrdiff_t broadcasts(const Graph& g) { return std::ranges::count(g.nodes(), Op::broadcast_like, &Node::op); }

std::string refusal(Op op, std::uint8_t axes, const Shape& shape) {
  Graph g;
  g.output(apply(g, op, {g.leaf(f32, 0)}, {axes}));
  try {
    const std::vector<Shape> shapes = jit::shapes_of(g, std::vector{shape});
    jit::check_has_elements(g, shapes);
  } catch (const IndexError& e) {
    return e.what();
  }
  return "none";
}

TEST(Shapes, AnAxisThatIsNotThere) {
  EXPECT_THAT(refusal(Op::sum, 4, {2, 3}), HasSubstr("range of [-2, 1], but got -3)\n  in sum of a 2-dimensional"));
  EXPECT_THAT(refusal(Op::sum, 5, {2, 3}), HasSubstr("but got -3)"));
  EXPECT_THAT(refusal(Op::sum, 2, {3}), HasSubstr("range of [-1, 0], but got -2)"));
  EXPECT_THAT(refusal(Op::sum, 2, {}), HasSubstr("range of [-1, 0], but got -2)"));  // a number has one axis to name
  EXPECT_EQ(refusal(Op::sum, 3, {2, 3}), "none");
  EXPECT_EQ(refusal(Op::sum, 1, {}), "none");
  EXPECT_EQ(refusal(Op::sum, ReduceAxes::all_axes, {}), "none");
}

TEST(Shapes, NoElementIsTheLargestOfNone) {
  for (const Op op : {Op::amax, Op::amin, Op::argmax, Op::argmin}) {
    EXPECT_THAT(refusal(op, 2, {0, 3}), HasSubstr("reduction dim 0 to have non-zero size")) << name(op);
    EXPECT_THAT(refusal(op, 1, {2, 0}), HasSubstr("reduction dim 1 to have non-zero size")) << name(op);
    EXPECT_EQ(refusal(op, 1, {0, 3}), "none") << name(op);  // no row asks for one
  }
  EXPECT_EQ(refusal(Op::sum, 2, {0, 3}), "none");
}

// Of where(sum(x, 1) > 0, x, x) the value is x, and the shape of both.
TEST(Shapes, AChoiceBetweenEqualsHasTheShapeOfItsCondition) {
  Graph g;
  const Operand x = g.leaf(f32, 0), sums = apply(g, Op::sum, {x}, {1});
  const Operand one = apply(g, Op::where, {apply(g, Op::gt, {sums, g.constant(i64, 0)}), x, x});
  g.output(one);
  g.output(apply(g, Op::where, {apply(g, Op::lt, {sums, g.constant(i64, 1)}), one, one}));
  const Graph s = jit::simplify(g);
  EXPECT_EQ(output_shapes(g, {{3, 1}}), (std::vector<Shape>{{3, 3}, {3, 3}}));
  EXPECT_EQ(output_shapes(s, {{3, 1}}), output_shapes(g, {{3, 1}})) << to_text(s);
  EXPECT_EQ(broadcasts(s), 1) << to_text(s);  // in the shape of the sums, however many conditions have it
}

TEST(Shapes, OnlyALostShapeIsBroughtBack) {
  Graph g;
  const Operand x = g.leaf(f32, 0), sums = apply(g, Op::sum, {x}, {1});
  const Operand condition = apply(g, Op::gt, {x, g.constant(i64, 0)});
  const Operand masked = apply(g, Op::where, {condition, x, apply(g, Op::mul, {x, g.constant(i64, 1)})});
  g.output(apply(g, Op::add, {apply(g, Op::neg, {apply(g, Op::neg, {sums})}), masked}));
  const Graph s = jit::simplify(g);
  EXPECT_EQ(broadcasts(s), 0) << to_text(s);  // x is there, in its own shape
  EXPECT_EQ(output_shapes(s, {{4, 4}}), output_shapes(g, {{4, 4}}));
}

/// Operations that lose an operand, among sums that have other shapes than what they are of.
Graph random_graph(std::mt19937_64& random) {
  Graph g;
  std::vector<Operand> values;
  for (std::uint32_t i = 0; i < 4; ++i) values.push_back(g.leaf(i32, i));
  for (const int number : {0, 1}) values.push_back(g.constant(i32, static_cast<std::uint64_t>(number)));
  const auto any = [&] { return values[values.size() - 1 - random() % std::min<std::size_t>(values.size(), 8)]; };
  for (int i = 0; i < 16; ++i) {
    const Operand a = any(), b = random() % 3 ? any() : a;
    switch (random() % 7) {
      case 0:
        values.push_back(apply(g, Op::sum, {a}, {static_cast<std::uint8_t>(random() % 2), random() % 2 == 0}));
        break;
      case 1: values.push_back(apply(g, Op::where, {apply(g, Op::lt, {any(), any()}), a, b})); break;
      default: {
        constexpr Op ops[] = {Op::add, Op::sub, Op::mul, Op::maximum, Op::bitwise_and, Op::bitwise_xor};
        values.push_back(g.cast(apply(g, ops[random() % std::size(ops)], {a, b}), i32));
      }
    }
  }
  for (int i = 0; i < 3; ++i) g.output(values[values.size() - 1 - random() % 6]);
  return g;
}

TEST(Shapes, RandomGraphsKeepThem) {
  const std::vector<Shape> leaves{{3, 1}, {1, 3}, {3}, {}};
  int compared = 0;
  std::ptrdiff_t brought_back = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    const Graph g = random_graph(random);
    const auto wanted = output_shapes(g, leaves);
    if (!wanted) continue;
    const Graph s = jit::simplify(g, true);
    ASSERT_EQ(output_shapes(s, leaves), wanted) << "seed " << seed << "\n" << to_text(g) << to_text(s);
    ++compared;
    brought_back += broadcasts(s);
  }
  EXPECT_GT(compared, 1000);
  EXPECT_GT(brought_back, 100);
}

}  // namespace
}  // namespace sinter::testing
