// Interface of evaluate.cpp for the rest of jit/.
#pragma once
#include <future>
#include <memory>
#include <span>
#include <vector>

#include <sinter/jit/recorded.hpp>
#include <sinter/runtime/backend.hpp>
#include "../plan/plan_shapes.hpp"
#include "../run/runner.hpp"

namespace sinter::inline v1::jit {

/// Evaluates an expression without a call-site cache; plans are looked up by the graph's content (hash, then compared).
/// `outputs` as for evaluate(Bound). Throws what evaluate(Bound) throws.
void evaluate_recorded(const Recorded& recorded, runtime::TensorRef* outputs, Mode mode);

/// Like prepare_async(Bound).
std::future<void> prepare_recorded_async(const Recorded& recorded);

/// Evaluates a tree with one output into an array of any dtype, as copies do.
void evaluate_converting(const Bound& tree, runtime::TensorRef& output);

/// What `print` prints of every kernel that an evaluation would run on a GPU, in order, for new outputs.
std::vector<runtime::KernelSource> kernel_texts(const Recorded& recorded, PrintSource& print);

/// The plans that an evaluation would run. Outputs of the same shape share a part, and so do all outputs of an
/// expression that reduces.
struct Evaluation {
  struct Part {
    const ExecutablePlan* ready;  // the compiled graph's
    PlanShapes shapes;

    const Plan& plan() const noexcept { return ready->plan; }
    /// The expression's outputs that the plan's outputs 0, 1, ... are.
    const std::vector<std::uint32_t>& outputs() const noexcept { return ready->outputs; }
  };
  std::vector<Part> parts;
  std::shared_ptr<const CompiledGraph> found;  // keeps `compiled` alive
  const CompiledGraph* compiled;               // the one for these scalars

  /// Without common subexpressions.
  const Graph& graph() const noexcept { return compiled->graph(); }
};

/// Throws what evaluate(Bound) throws before it runs anything.
Evaluation inspect(const Recorded& recorded);

/// The steps of an evaluation on a mesh: the plans of one rank, stage by stage, how their kernels process rows, and the
/// collectives between them.
struct MeshEvaluation {
  std::vector<CapturedPlan> plans;
  std::vector<RowReport> row_reports;  // of all kernels of these
  std::vector<Collective> collectives;
};
MeshEvaluation inspect_on_mesh(const Recorded& recorded, const Evaluation& evaluation);

/// How a GPU would process the rows of each kernel of an expression that reduces; empty for kernels that do not.
std::vector<RowReport> row_reports(const Recorded& recorded, const Evaluation& evaluation);

}  // namespace sinter::inline v1::jit
