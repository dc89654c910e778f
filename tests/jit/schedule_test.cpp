// jit::schedule: every plan computes what its graph does, each kernel is within the limits, and the work is near
// linear.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "programs.hpp"

namespace sinter::testing {
namespace {

using jit::Kernel;
using jit::Plan;
using jit::Slot;

Graph chain(int length) {
  Graph g;
  const Operand x = g.leaf(f32, 0);
  Operand y = x;
  for (int i = 0; i < length; ++i) {
    const Operand operands[] = {y, x};
    y = g.node(i % 2 ? Op::mul : Op::maximum, f32, operands);
  }
  g.output(y);
  return g;
}

Graph wide_sum(int leaves) {
  Graph g;
  Operand sum = g.leaf(f32, 0);
  for (int i = 1; i < leaves; ++i) {
    const Operand operands[] = {sum, g.leaf(f32, static_cast<std::uint32_t>(i))};
    sum = g.node(Op::add, f32, operands);
  }
  g.output(sum);
  return g;
}

/// Rounds of a network in which all of `width` values stay alive.
Graph butterfly(int width, int rounds) {
  Graph g;
  std::vector<Operand> v, w;
  for (int i = 0; i < width; ++i) v.push_back(g.leaf(f32, static_cast<std::uint32_t>(i)));
  for (int r = 0; r < rounds; ++r) {
    w.clear();
    for (int i = 0; i < width; ++i) {
      const Operand operands[] = {v[static_cast<std::size_t>(i)], v[static_cast<std::size_t>((i + r + 1) % width)]};
      w.push_back(g.node(r % 2 ? Op::add : Op::minimum, f32, operands));
    }
    v = w;
  }
  for (Operand o : v) g.output(o);
  return g;
}

void expect_valid(const Plan& p) {
  std::vector<int> writers(p.temporaries.size()), outputs(p.graph.outputs().size());
  std::vector<std::uint32_t> last(p.temporaries.size());
  ASSERT_EQ(p.last_use.size(), p.temporaries.size());
  for (std::size_t k = 0; k < p.kernels.size(); ++k) {
    const Kernel& kernel = p.kernels[k];
    ASSERT_EQ(kernel.outputs.size(), kernel.graph.outputs().size());
    ASSERT_FALSE(kernel.outputs.empty());
    ASSERT_LE(kernel.inputs.size() + kernel.outputs.size(), 128u);
    std::vector<int> named(kernel.inputs.size());
    std::size_t scalars = 0;
    for (const Node& n : kernel.graph.nodes()) {
      scalars += n.op == Op::scalar;
      if (n.op != Op::leaf && n.op != Op::iota) continue;
      ASSERT_LT(n.attribute, named.size());
      ++named[n.attribute];
    }
    for (int times : named) ASSERT_EQ(times, 1) << "each input is one node";
    ASSERT_LE(72 * (kernel.inputs.size() + kernel.outputs.size()) + 8 * scalars, 32764u);
    ASSERT_LE(jit::live_bytes(kernel.graph), 2000);
    std::set<std::pair<int, std::uint32_t>> distinct;
    for (const Slot& s : kernel.inputs) {
      ASSERT_NE(s.kind, Slot::Kind::Output);
      ASSERT_TRUE(distinct.insert({static_cast<int>(s.kind), s.number}).second) << "an input is there twice";
      if (s.kind != Slot::Kind::Temporary) continue;
      ASSERT_EQ(writers[s.number], 1) << "read before it is written";
      last[s.number] = static_cast<std::uint32_t>(k);
    }
    for (const Slot& s : kernel.outputs) ++(s.kind == Slot::Kind::Output ? outputs : writers)[s.number];
    for (std::size_t i = 0; i < kernel.outputs.size(); ++i)
      if (kernel.outputs[i].kind == Slot::Kind::Temporary) {
        ASSERT_EQ(p.temporaries[kernel.outputs[i].number], kernel.graph[kernel.graph.outputs()[i]].dtype);
      }
    ASSERT_TRUE(kernel.name.starts_with("sinter_")) << kernel.name;
    ASSERT_EQ(kernel.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos) << kernel.name;
  }
  for (int times : writers) ASSERT_EQ(times, 1);
  for (int times : outputs) ASSERT_EQ(times, 1);
  ASSERT_EQ(last, p.last_use);
}

std::size_t operations_in(const Plan& p) {
  std::size_t n = 0;
  for (const Kernel& k : p.kernels) n += operations(k.graph);
  return n;
}

TEST(Schedule, TheExampleIsOneKernel) {
  Written w;
  w.leaf(f32).scalar(Category::Int).op(Op::add).op(Op::exp).leaf(f32).op(Op::mul);
  const Plan p = jit::schedule(jit::simplify(w.record()));
  expect_valid(p);
  ASSERT_EQ(p.kernels.size(), 1u);
  EXPECT_TRUE(p.kernels[0].name.starts_with("sinter_add_exp_mul_f32_")) << p.kernels[0].name;
  EXPECT_EQ(p.kernels[0].name.size(), std::string("sinter_add_exp_mul_f32_3f9a").size());
  EXPECT_EQ(p.kernels[0].inputs, (std::vector<Slot>{{Slot::Kind::Leaf, 0}, {Slot::Kind::Leaf, 1}}));
  EXPECT_EQ(p.kernels[0].outputs, (std::vector<Slot>{{Slot::Kind::Output, 0}}));
  EXPECT_TRUE(p.temporaries.empty());
  EXPECT_EQ(p.kernels[0].limit, "");
}

TEST(Schedule, LeavesAreRenumberedDensely) {
  Written w;
  w.leaf(f32).leaf(f32, 0).leaf(f32).op(Op::maximum).op(Op::maximum);
  const Plan p = jit::schedule(jit::simplify(w.record()));
  expect_valid(p);
  EXPECT_EQ(p.kernels[0].inputs, (std::vector<Slot>{{Slot::Kind::Leaf, 0}, {Slot::Kind::Leaf, 2}}));
}

TEST(Schedule, CopiesConstantsAndScalarsAreKernelsToo) {
  for (int i = 0; i < 3; ++i) {
    Graph g;
    g.output(i == 0 ? g.leaf(f32, 4) : i == 1 ? g.constant(f32, 7) : g.scalar(f32, Category::Float, 0));
    for (const Plan& p : {jit::schedule(g), jit::schedule_eager(g)}) {
      expect_valid(p);
      EXPECT_EQ(p.kernels.size(), 1u);
    }
  }
}

TEST(Schedule, NothingToDo) {
  EXPECT_TRUE(jit::schedule(Graph()).kernels.empty());
  EXPECT_TRUE(jit::schedule_eager(Graph()).kernels.empty());
}

TEST(Schedule, LongChainsAreCutWhereOneValueCrosses) {
  const Plan p = jit::schedule(chain(10'000));
  expect_valid(p);
  EXPECT_EQ(p.kernels.size(), 20u);
  EXPECT_EQ(p.temporaries.size(), p.kernels.size() - 1);
  EXPECT_THAT(p.kernels[0].limit, ::testing::StartsWith("more than 512 operations"));
  EXPECT_EQ(p.kernels.back().limit, "");
  // Segments that repeat have one text and one name.
  std::set<std::string> names;
  for (std::size_t i = 1; i + 1 < p.kernels.size(); ++i) names.insert(p.kernels[i].name);
  EXPECT_LE(names.size(), 2u);
}

TEST(Schedule, RepeatedSegmentsWithScalarsHaveOneName) {
  Graph g;
  Operand y = g.leaf(f32, 0);
  for (std::uint32_t i = 0; i < 4096; ++i) {
    const Operand operands[] = {y, g.scalar(f32, Category::Float, i)};
    y = g.node(Op::mul, f32, operands);
  }
  g.output(y);
  const Plan p = jit::schedule(g);
  expect_valid(p);
  std::set<std::string> names;
  for (const Kernel& k : p.kernels) names.insert(k.name);
  EXPECT_EQ(p.kernels.size(), 8u);
  EXPECT_EQ(names.size(), 1u);
}

TEST(Schedule, ManyLeavesStayWithinTheOperandsOfAKernel) {
  const Plan p = jit::schedule(wide_sum(1000));
  expect_valid(p);
  EXPECT_GE(p.kernels.size(), 8u);
  EXPECT_LE(p.kernels.size(), 17u);
  EXPECT_EQ(p.temporaries.size(), p.kernels.size() - 1);
}

TEST(Schedule, ManyOutputsAreSpread) {
  Graph g;
  const Operand x = g.leaf(f32, 0);
  const Operand e = g.node(Op::exp, f32, {&x, 1});
  for (int i = 0; i < 500; ++i) g.output(e);
  for (int i = 0; i < 500; ++i) g.output(x);
  const Plan p = jit::schedule(g);
  expect_valid(p);
  EXPECT_LE(p.kernels.size(), 18u);
}

TEST(Schedule, ValuesThatStayAliveForceACut) {
  const Plan p = jit::schedule(butterfly(400, 6));
  expect_valid(p);
  EXPECT_GT(p.kernels.size(), 1u);
}

TEST(Schedule, CutsFallWhereFewValuesCross) {
  // Blocks of 16 values that meet in one: any cut inside a block stores many, between blocks one.
  Graph g;
  Operand carried = g.leaf(f32, 0);
  for (int block = 0; block < 40; ++block) {
    std::vector<Operand> v;
    for (std::uint32_t i = 0; i < 16; ++i) {
      const Operand operands[] = {carried, g.constant(f32, i)};
      v.push_back(g.node(Op::maximum, f32, operands));
    }
    while (v.size() > 1) {
      const Operand operands[] = {v[0], v[1]};
      v.push_back(g.node(Op::add, f32, operands));
      v.erase(v.begin(), v.begin() + 2);
    }
    carried = v[0];
  }
  g.output(carried);
  const Plan p = jit::schedule(g);
  expect_valid(p);
  EXPECT_GT(p.kernels.size(), 2u);
  EXPECT_EQ(p.temporaries.size(), p.kernels.size() - 1);
}

TEST(Schedule, ConversionsOfLeavesAreRecomputedRatherThanStored) {
  Graph g;
  const Operand x = g.leaf(DType::Int32, 0);
  const Operand converted = g.node(Op::cast, f32, {&x, 1});
  Operand y = converted;
  for (int i = 0; i < 2000; ++i) {
    const Operand operands[] = {y, converted};
    y = g.node(i % 2 ? Op::mul : Op::maximum, f32, operands);
  }
  g.output(y);
  const Plan p = jit::schedule(g);
  expect_valid(p);
  EXPECT_EQ(p.temporaries.size(), p.kernels.size() - 1);
}

TEST(Schedule, EagerIsOneKernelForEachOperation) {
  Written w;
  w.leaf(f32).scalar(Category::Int).op(Op::add).op(Op::exp).leaf(DType::Int32).op(Op::mul);
  const Graph recorded = w.record();
  const Plan p = jit::schedule_eager(recorded);
  expect_valid(p);
  ASSERT_EQ(p.kernels.size(), 3u);  // the conversion happens as mul loads
  EXPECT_EQ(p.temporaries.size(), 2u);
  EXPECT_TRUE(p.kernels[2].name.starts_with("sinter_mul_f32_")) << p.kernels[2].name;
}

TEST(Schedule, RandomPlansComputeWhatTheirGraphsDo) {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    std::mt19937_64 random(seed);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const Written w = random_program(random, seed % 50 == 0 ? 4000 : 80, seed % 3 != 0);
    const Graph recorded = w.record(), simplified = jit::simplify(recorded);
    const Plan fused = jit::schedule(simplified), eager = jit::schedule_eager(recorded);
    expect_valid(fused);
    expect_valid(eager);
    if (::testing::Test::HasFatalFailure()) return;
    for (int sample = 0; sample < 3; ++sample) {
      const auto leaves = w.leaf_values(random), scalars = w.scalar_values(random);
      const auto of_graph = outputs_of(simplified, leaves, scalars), of_plan = outputs_of(fused, leaves, scalars);
      const auto of_recorded = outputs_of(recorded, leaves, scalars, test::Rounding::EachOperation);
      const auto of_eager = outputs_of(eager, leaves, scalars);
      for (std::size_t i = 0; i < of_plan.size(); ++i) {
        const DType t = recorded[recorded.outputs()[i]].dtype;
        ASSERT_TRUE(same_value(t, of_graph[i], of_plan[i]));
        ASSERT_TRUE(same_value(t, of_recorded[i], of_eager[i]))
            << "output " << i << ": " << std::hex << of_recorded[i] << " became " << of_eager[i] << "\n"
            << to_text(recorded);
      }
    }
  }
}

TEST(Schedule, EveryOperationIsInOneKernel) {
  EXPECT_EQ(operations_in(jit::schedule(chain(5000))), 5000u);
  EXPECT_EQ(operations_in(jit::schedule(butterfly(50, 100))), 5000u);
}

TEST(Schedule, KernelsGrowInNumberNotInSize) {
  for (int length : {1000, 10'000, 100'000}) {
    const Plan p = jit::schedule(chain(length));
    const auto expected = static_cast<std::size_t>((length + 511) / 512);
    EXPECT_LE(p.kernels.size(), expected + 1);
    std::size_t nodes = 0;
    for (const Kernel& k : p.kernels) nodes += k.graph.nodes().size();
    EXPECT_LE(nodes, static_cast<std::size_t>(length) + 3 * p.kernels.size());
  }
}

TEST(Schedule, LiveBytes) {
  EXPECT_EQ(jit::live_bytes(wide_sum(10)), 12);  // the sum, the next leaf, the new sum
  EXPECT_EQ(jit::live_bytes(chain(10)), 12);
  EXPECT_GE(jit::live_bytes(butterfly(50, 2)), 200);
  Graph g;
  g.output(g.leaf(f32, 0));
  EXPECT_EQ(jit::live_bytes(g), 0);
}

}  // namespace
}  // namespace sinter::testing
