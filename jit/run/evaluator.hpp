// What other parts of jit/ ask of evaluate.cpp.
#pragma once
#include <future>
#include <memory>
#include <span>
#include <vector>

#include <sinter/jit/recorded.hpp>
#include <sinter/runtime/backend.hpp>
#include "../plan/plan_shapes.hpp"
#include "runner.hpp"

namespace sinter::inline v1::jit {

/// Evaluates what no entry of a type stands for; plans are found again by the graph's content (hash, then compared).
/// `outputs` as for evaluate(Bound). Throws what evaluate(Bound) throws.
void evaluate_recorded(const Recorded& recorded, runtime::TensorRef* outputs, Mode mode);

/// As prepare_async(Bound).
std::future<void> prepare_recorded_async(const Recorded& recorded);

/// Evaluates a tree with one output into an array of any dtype: what copies do.
void evaluate_converting(const Bound& tree, runtime::TensorRef& output);

/// The CUDA text of every kernel that an evaluation would run, in order, for new outputs.
std::vector<runtime::KernelSource> kernel_texts(const Recorded& recorded);

/// How an evaluation would go, without running it. Outputs of one shape share a part, and so do all of an expression
/// that reduces.
struct Evaluation {
  struct Part {
    const ReadyPlan* ready;  // the recipe's
    PlanShapes shapes;

    const Plan& plan() const noexcept { return ready->plan; }
    /// Of the expression: what the plan's outputs 0, 1, ... are.
    const std::vector<std::uint32_t>& outputs() const noexcept { return ready->outputs; }
  };
  std::vector<Part> parts;
  std::shared_ptr<const Recipe> found;  // keeps what would run
  const Recipe* recipe;                 // for these scalars

  /// Without common subexpressions.
  const Graph& graph() const noexcept { return recipe->graph(); }
};

/// Throws what evaluate(Bound) throws before it runs anything.
Evaluation inspect(const Recorded& recorded);

/// What an evaluation on a mesh would do: the plans of one position, stage by stage, how their kernels walk rows, and
/// what the positions exchange between them.
struct MeshEvaluation {
  std::vector<PlanSeen> plans;
  std::vector<RowPlan> row_plans;  // of all kernels of these
  std::vector<Collective> collectives;
};
MeshEvaluation inspect_on_mesh(const Recorded& recorded, const Evaluation& evaluation);

/// How a GPU would walk the rows of each kernel of an expression that reduces; empty ones of kernels that do not.
std::vector<RowPlan> row_plans(const Recorded& recorded, const Evaluation& evaluation);

/// Numbers of leaves, in order, each once.
struct LeafSets {
  std::vector<std::uint32_t> walked;  // leaves and index nodes: what the shape comes from
  std::vector<std::uint32_t> arrays;  // what is read at computed places
};

/// What a graph's output depends on. To be asked of a recorded graph, since simplifying can drop a leaf (x * 0) but not
/// its shape.
LeafSets leaves_of(const Graph& recorded, Operand output);

}  // namespace sinter::inline v1::jit
