// Plans of graphs with matrix products: which kernels there are, and what passes between them. Values are for
// dsl/matmul_test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <jit/plan/plan.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::testing {
namespace {

using jit::Graph;
using jit::Kernel;
using jit::Node;
using jit::Operand;
using jit::Plan;
using jit::Slot;
using ::testing::ElementsAre;

/// A graph over square matrices.
struct ProductSchedule : ::testing::Test {
  Graph graph;
  std::uint32_t leaves = 0;

  Operand leaf() { return graph.leaf(DType::Float32, leaves++); }
  Operand apply(Op op, Operand a) { return graph.apply(op, {&a, 1}); }
  Operand apply(Op op, Operand a, Operand b) {
    const Operand both[] = {a, b};
    return graph.apply(op, both);
  }
  Operand multiply(Operand a, Operand b) { return apply(Op::matmul, a, b); }
  Operand sum(Operand a) { return graph.apply(Op::sum, {&a, 1}, {1, true}); }
  Plan plan(bool eager = false) const {
    const std::vector<Shape> shapes(leaves, Shape{4, 4});
    return eager ? schedule_eager(graph, shapes) : schedule_products(graph, shapes, jit::RowValues::StoredOnCpu);
  }

  /// "matmul", "add exp": what each kernel computes.
  static std::vector<std::string> computed(const Plan& plan) {
    std::vector<std::string> all;
    for (const Kernel& k : plan.kernels) {
      std::string words;
      for (const Node& n : k.graph.nodes())
        if (n.arity > 0) words += (words.empty() ? "" : " ") + std::string(name(n.op));
      EXPECT_EQ(k.is_product, words.starts_with("matmul"));
      all.push_back(words);
    }
    return all;
  }
};

TEST_F(ProductSchedule, AProductAloneWritesTheOutput) {
  graph.output(multiply(leaf(), leaf()));
  const Plan made = plan();
  EXPECT_THAT(computed(made), ElementsAre("matmul"));
  EXPECT_EQ(made.kernels[0].outputs[0].kind, Slot::Kind::Output);
  EXPECT_TRUE(made.temporaries.empty());
}

TEST_F(ProductSchedule, WhatIsAroundAProductIsOneKernelOnEachSide) {
  graph.output(apply(Op::exp, apply(Op::add, multiply(apply(Op::exp, apply(Op::neg, leaf())), leaf()), leaf())));
  EXPECT_THAT(computed(plan()), ElementsAre("neg exp", "matmul", "add exp"));
  EXPECT_THAT(computed(plan(true)), ElementsAre("neg", "exp", "matmul", "add", "exp"));
}

TEST_F(ProductSchedule, ProductsOfOneStageShareWhatComesBefore) {
  const Operand x = apply(Op::exp, leaf());
  graph.output(apply(Op::add, multiply(x, leaf()), multiply(x, leaf())));
  EXPECT_THAT(computed(plan()), ElementsAre("exp", "matmul", "matmul", "add"));
}

TEST_F(ProductSchedule, WhatIsCheapIsComputedAgain) {
  const Operand x = apply(Op::neg, leaf());
  graph.output(apply(Op::add, x, multiply(multiply(leaf(), leaf()), leaf())));
  EXPECT_THAT(computed(plan()), ElementsAre("matmul", "matmul", "neg add"));
  EXPECT_THAT(computed(plan(true)), ElementsAre("neg", "matmul", "matmul", "add"));
}

TEST_F(ProductSchedule, WhatIsCostlyIsComputedOnce) {
  for (const Op op : {Op::lgamma, Op::exp}) {
    graph = {}, leaves = 0;
    const Operand x = apply(op, leaf());
    graph.output(apply(Op::add, x, multiply(multiply(apply(Op::neg, x), leaf()), leaf())));
    const Plan made = plan();
    if (op == Op::lgamma) {
      EXPECT_THAT(computed(made), ElementsAre("lgamma neg", "matmul", "matmul", "add"));
    } else {
      EXPECT_THAT(computed(made), ElementsAre("exp neg", "matmul", "matmul", "exp add"));
    }
  }
}

TEST_F(ProductSchedule, ACostlyValueThatOneStageReadsIsComputedThere) {
  const Operand x = apply(Op::lgamma, leaf());
  graph.output(apply(Op::add, x, multiply(multiply(leaf(), leaf()), leaf())));
  EXPECT_THAT(computed(plan()), ElementsAre("matmul", "matmul", "lgamma add"));
}

/// Kernels compute in float32: storing a 16-bit value between them would round it.
TEST_F(ProductSchedule, A16BitValueIsNotRoundedBetweenStages) {
  const auto narrow = [&] { return graph.leaf(DType::BFloat16, leaves++); };
  const Operand x = apply(Op::lgamma, narrow());
  graph.output(apply(Op::add, x, multiply(multiply(apply(Op::neg, x), narrow()), narrow())));
  const Plan made = plan();
  EXPECT_THAT(made.kernels.back().name, ::testing::HasSubstr("lgamma"));
}

TEST_F(ProductSchedule, NumbersThatMultiplyGoToAlpha) {
  const Operand number = graph.scalar(DType::Float32, Category::Float, 0), two = graph.constant(DType::Float32, 2);
  graph.output(apply(Op::mul, multiply(leaf(), leaf()), number));
  graph.output(apply(Op::exp, apply(Op::mul, two, multiply(leaf(), leaf()))));
  EXPECT_THAT(computed(plan()), ElementsAre("matmul mul", "matmul mul", "exp"));
  EXPECT_THAT(computed(plan(true)), ElementsAre("matmul", "mul", "matmul", "mul", "exp"));
}

TEST_F(ProductSchedule, ASumOverTheBatchIsOneProduct) {
  const auto computed_for = [](const Shape& a, const Shape& b, jit::Transposed transposes, jit::ReduceAxes along,
                               bool eager = false) {
    Graph g;
    const Operand factors[] = {g.leaf(DType::Float32, 0), g.leaf(DType::Float32, 1)};
    const Operand product = g.node(Op::matmul, DType::Float32, factors, transposes.bits());
    g.output(g.apply(Op::sum, {&product, 1}, along));
    const std::vector<Shape> shapes{a, b};
    return computed(eager ? schedule_eager(g, shapes) : schedule_products(g, shapes, jit::RowValues::StoredOnCpu));
  };
  const Shape a{2, 3, 4}, b{2, 3, 5}, deep_a{6, 2, 3, 4}, deep_b{6, 2, 3, 5};
  const jit::Transposed left{true, false};
  EXPECT_THAT(computed_for(a, b, left, {0b100, false}), ElementsAre("matmul sum"));
  EXPECT_THAT(computed_for(a, b, left, {0b100, true}), ElementsAre("matmul sum"));
  EXPECT_THAT(computed_for(deep_a, deep_b, left, {0b1100, false}), ElementsAre("matmul sum"));
  const auto apart = ElementsAre("matmul", "sum");
  EXPECT_THAT(computed_for(a, b, left, {0b100, false}, true), apart);
  EXPECT_THAT(computed_for(deep_a, deep_b, left, {0b100, false}), apart);  // over part of the batch
  EXPECT_THAT(computed_for(deep_a, deep_b, left, {0b1110, false}), apart);
  EXPECT_THAT(computed_for(a, b, left, {}), apart);
  EXPECT_THAT(computed_for(a, {3, 5}, left, {0b100, false}), apart);  // a batch of one operand
  EXPECT_THAT(computed_for(a, {1, 3, 5}, left, {0b100, false}), apart);
  EXPECT_THAT(computed_for({2, 4, 3}, b, {}, {0b100, false}), apart);  // rows that are not below each other
  EXPECT_THAT(computed_for({0, 3, 4}, {0, 3, 5}, left, {0b100, false}), apart);

  const Operand factors[] = {leaf(), leaf()};
  const Operand product = graph.node(Op::matmul, DType::Float32, factors, left.bits());
  graph.output(graph.apply(Op::sum, {&product, 1}, {0b100, false}));
  graph.output(product);  // which is read elsewhere
  EXPECT_THAT(computed(schedule_products(graph, std::vector<Shape>{a, b}, jit::RowValues::StoredOnCpu)), apart);
}

TEST_F(ProductSchedule, ASumOverTheBatchIsScaledAndAddedTo) {
  const Operand factors[] = {leaf(), leaf()}, two = graph.constant(DType::Float32, 2);
  const Operand product = graph.node(Op::matmul, DType::Float32, factors, jit::Transposed{true, false}.bits());
  const Operand sum = graph.apply(Op::sum, {&product, 1}, {0b100, false});
  graph.output(apply(Op::add, apply(Op::mul, leaf(), two), apply(Op::mul, sum, two)));
  const Plan made =
      schedule_products(graph, std::vector<Shape>{{2, 3, 4}, {2, 3, 5}, {4, 5}}, jit::RowValues::StoredOnCpu);
  EXPECT_THAT(computed(made), ElementsAre("matmul sum mul mul add"));
}

TEST_F(ProductSchedule, OtherFactorsStayOutside) {
  const Operand p = multiply(leaf(), leaf()), number = graph.scalar(DType::Float32, Category::Float, 0);
  graph.output(apply(Op::mul, p, p));
  graph.output(apply(Op::mul, multiply(leaf(), leaf()), leaf()));
  const Operand twice = multiply(leaf(), leaf());
  graph.output(apply(Op::mul, twice, number));
  graph.output(twice);
  for (const Kernel& k : plan().kernels) EXPECT_TRUE(!k.is_product || k.graph.nodes().size() == 3);
}

TEST_F(ProductSchedule, ATensorThatIsAddedGoesToBeta) {
  const Operand number = graph.scalar(DType::Float32, Category::Float, 0);
  graph.output(apply(Op::add, leaf(), multiply(leaf(), leaf())));
  EXPECT_THAT(computed(plan()), ElementsAre("matmul add"));
  graph.output(apply(Op::add, apply(Op::mul, multiply(leaf(), leaf()), number), apply(Op::mul, number, leaf())));
  EXPECT_THAT(computed(plan()), ElementsAre("matmul add", "matmul mul mul add"));
  const Plan made = plan();
  EXPECT_EQ(made.kernels[1].inputs.size(), 3u);
  EXPECT_TRUE(made.temporaries.empty());
}

TEST_F(ProductSchedule, WhatFollowsAddsItself) {
  graph.output(apply(Op::exp, apply(Op::add, leaf(), multiply(leaf(), leaf()))));
  EXPECT_THAT(computed(plan()), ElementsAre("matmul", "add exp"));
}

TEST_F(ProductSchedule, OnlyTensorsOfTheProductsShapeAreAdded) {
  const Operand a = leaf(), b = leaf();
  graph.output(apply(Op::add, multiply(a, b), leaf()));
  const std::vector<Shape> bias{{4, 4}, {4, 4}, {4}}, batch{{4, 4}, {4, 4}, {2, 4, 4}}, vector{{4, 4}, {4}, {4}};
  for (const auto& shapes : {bias, batch, vector})
    EXPECT_THAT(computed(schedule_products(graph, shapes, jit::RowValues::StoredOnCpu)), ElementsAre("matmul", "add"));
  const std::vector<Shape> empty{{4, 0}, {0, 4}, {4, 4}};
  EXPECT_THAT(computed(schedule_products(graph, empty, jit::RowValues::StoredOnCpu)), ElementsAre("matmul", "add"));
}

TEST_F(ProductSchedule, ResultsOfReductionsAreKept) {
  const Operand x = leaf(), total = sum(x);
  graph.output(apply(Op::add, total, multiply(apply(Op::sub, x, total), leaf())));
  const Plan made = plan();
  EXPECT_THAT(computed(made), ElementsAre("sum sub", "matmul", "add"));
  EXPECT_EQ(made.kernels[0].outputs.size(), 2u);
}

TEST_F(ProductSchedule, AProductThatIsReadElsewhereIsCopiedOut) {
  const Operand p = multiply(leaf(), leaf());
  graph.output(p);
  graph.output(apply(Op::exp, p));
  const Plan made = plan();
  EXPECT_THAT(computed(made).front(), "matmul");
  EXPECT_EQ(made.kernels[0].outputs[0].kind, Slot::Kind::Temporary);
  EXPECT_THAT(computed(made).size(), 2u);  // one kernel writes both
}

TEST_F(ProductSchedule, TemporariesAreFreeAfterTheirLastUse) {
  Operand p = leaf();
  for (int i = 0; i < 4; ++i) p = multiply(p, leaf());
  graph.output(p);
  const Plan made = plan();
  EXPECT_EQ(made.temporaries.size(), 3u);
  EXPECT_THAT(made.last_use, ElementsAre(1u, 2u, 3u));
}

TEST_F(ProductSchedule, WhatNothingReadsIsNotComputed) {
  const Operand a = leaf(), b = leaf();
  multiply(a, b);
  graph.output(apply(Op::add, a, b));
  EXPECT_THAT(computed(plan()), ElementsAre("add"));
}

TEST_F(ProductSchedule, SimplifyingDropsNoShape) {
  const Operand a = leaf(), b = leaf(), c = leaf();
  const Operand zero = graph.constant(DType::Int32, 0);
  graph.output(multiply(apply(Op::add, apply(Op::mul, graph.cast(a, DType::Int32), zero), b), c));
  const std::vector<Shape> shapes{{3, 4}, {4}, {4, 5}};
  const Plan made = schedule_products(graph, shapes, jit::RowValues::StoredOnCpu);
  const Kernel& first = made.kernels[0];
  bool reads_a = false;
  for (const Slot& s : first.inputs) reads_a |= s == Slot{Slot::Kind::Leaf, 0};
  EXPECT_TRUE(reads_a) << "the result would have the shape of b";
}

TEST_F(ProductSchedule, WrongShapesThrow) {
  graph.output(multiply(leaf(), leaf()));
  const std::vector<Shape> shapes{{2, 3}, {2, 3}};
  EXPECT_THROW(schedule_products(graph, shapes, jit::RowValues::StoredOnCpu), ShapeError);
}

TEST_F(ProductSchedule, ResidualsAreStored) {
  Operand h = leaf();
  const Operand w = leaf();
  for (int i = 0; i < 50; ++i) h = apply(Op::add, h, apply(Op::exp, multiply(apply(Op::neg, h), w)));
  graph.output(h);
  const Plan made = plan();
  EXPECT_EQ(made.kernels.size(), 101u);
  for (const Kernel& k : made.kernels) EXPECT_LE(k.inputs.size(), 2u);
  for (std::size_t t = 0; t < made.temporaries.size(); ++t) {
    const auto writes = [&](const Kernel& k) {
      return std::ranges::find(k.outputs, Slot{Slot::Kind::Temporary, static_cast<std::uint32_t>(t)}) !=
             k.outputs.end();
    };
    const auto made_by = std::ranges::find_if(made.kernels, writes) - made.kernels.begin();
    EXPECT_LE(static_cast<std::ptrdiff_t>(made.last_use[t]) - made_by, 2);
  }
}

TEST_F(ProductSchedule, LongChainsTakeTheirTime) {
  Operand p = leaf();
  const Operand w = leaf();
  for (int i = 0; i < 300; ++i) p = apply(Op::exp, multiply(p, w));
  graph.output(p);
  EXPECT_EQ(plan().kernels.size(), 600u);
}

}  // namespace
}  // namespace sinter::testing
