// The shapes of a plan's results against those of what was recorded.
#include <jit/plan/plan_shapes.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <jit/infer/shapes.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::testing {
namespace {

using jit::Graph;
using jit::ReduceAxes;
using runtime::TensorImpl;
using runtime::TensorRef;

/// x, or x + y, and its sum along the last axis.
Graph summed(bool with_y, bool keeps) {
  Graph g;
  jit::Operand value = g.leaf(DType::Float32, 0);
  if (with_y) value = g.apply(Op::add, std::vector{value, g.leaf(DType::Float32, 1)});
  g.output(g.apply(Op::sum, std::vector{value}, ReduceAxes{1, keeps}));
  return g;
}

std::vector<Shape> planned(const Graph& g, std::span<TensorImpl* const> leaves) {
  const jit::Plan plan = jit::schedule(g, jit::shapes_of_leaves(leaves), jit::RowValues::Recomputed);
  return jit::plan_shapes(plan, nullptr, leaves).outputs;
}

TEST(PlanShapes, AreThoseOfWhatWasRecorded) {
  const TensorRef x = runtime::empty({3}, DType::Float32, Device()),
                  y = runtime::empty({2, 3}, DType::Float32, Device());
  TensorImpl* const leaves[] = {x.get(), y.get()};
  const Graph recorded = summed(true, false);
  EXPECT_NO_THROW(jit::check_same_shapes(recorded, leaves, planned(recorded, leaves)));
  for (const Graph& other : {summed(false, false), summed(true, true)}) {
    try {
      jit::check_same_shapes(recorded, leaves, planned(other, leaves));
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), ::testing::StartsWith("internal error: output 0 has shape (2,), and its plan would give"));
    }
  }
}

}  // namespace
}  // namespace sinter::testing
