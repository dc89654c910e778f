// Interface of evaluate.cpp for the rest of jit/.
#pragma once
#include <future>
#include <memory>
#include <span>
#include <vector>

#include <sinter/jit/recorded.hpp>
#include <sinter/runtime/backend.hpp>
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

/// What an evaluation would run: its plans in order, on a mesh those of one rank, step by step.
struct Inspection {
  std::shared_ptr<const CompiledGraph> owner;  // keeps `compiled` alive
  const CompiledGraph* compiled = nullptr;     // the one for these scalars
  std::vector<Shape> outputs;
  std::vector<CapturedPlan> plans;
  std::vector<RowReport> row_reports;   // how a GPU would process the rows of each kernel of these
  std::vector<Collective> collectives;  // between the ranks of a mesh
};

/// Throws what evaluate(Bound) throws before it runs anything.
Inspection inspect(const Recorded& recorded);

}  // namespace sinter::inline v1::jit
