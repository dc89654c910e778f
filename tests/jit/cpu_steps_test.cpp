// The steps of elementwise programs on the CPU.
#include <jit/cpu/steps.hpp>

#include <gtest/gtest.h>

namespace sinter::inline v1::jit::cpu {
namespace {

TEST(CpuSteps, GathersOfRows) {
  for (const Op after : {Op::neg, Op::sin}) {
    Graph graph;
    const Operand positions[] = {graph.leaf(DType::Int64, 1), graph.iota(2)};
    const Operand read[] = {graph.array(DType::Float32, 0), graph.node(Op::add, DType::Int64, positions)};
    const Operand row = graph.node(Op::load, DType::Float32, read);
    graph.output(graph.node(after, DType::Float32, {&row, 1}));
    EXPECT_TRUE(gathers_rows(graph));
    EXPECT_EQ(computes_little_besides_loads(graph), after == Op::neg);
  }
  Graph graph;
  const Operand x = graph.leaf(DType::Float32, 0);
  graph.output(graph.node(Op::neg, DType::Float32, {&x, 1}));
  EXPECT_FALSE(gathers_rows(graph));
}

}  // namespace
}  // namespace sinter::inline v1::jit::cpu
