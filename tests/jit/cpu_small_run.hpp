// Programs of one loop, and a run of them: what becomes of the loop is the question, not its values.
#pragma once
#include <cstring>
#include <vector>

#include "cpu_kernels.hpp"

namespace sinter::test {

inline Graph small_graph() {
  Graph graph;
  const Operand x = graph.leaf(DType::Float32, 0);
  const Operand twice = graph.node(Op::add, DType::Float32, std::vector{x, x});
  graph.output(graph.node(Op::exp, DType::Float32, std::vector{twice}));
  return graph;
}

inline Graph other_small_graph() {
  Graph graph;
  const Operand x = graph.leaf(DType::Float32, 0);
  graph.output(
      graph.node(Op::sigmoid, DType::Float32, std::vector{graph.node(Op::neg, DType::Float32, std::vector{x})}));
  return graph;
}

struct SmallRun {
  Array out = make_array(DType::Float32, {1000}, {1}), x = make_array(DType::Float32, {1000}, {1});
  LoopNest nest = make_nest({1000}, {&out, &x}, 1);
  SmallRun() { std::memset(x.memory.data(), 0, 4000); }
};

}  // namespace sinter::test
