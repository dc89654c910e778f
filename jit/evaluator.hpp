// What other parts of jit/ ask of evaluate.cpp.
#pragma once
#include <future>
#include <memory>
#include <span>
#include <vector>

#include <sinter/jit/recorded.hpp>
#include <sinter/runtime/backend.hpp>
#include "recipe.hpp"

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

/// How an evaluation would go, without running it. Outputs of one shape share a part.
struct Evaluation {
  struct Part {
    const Plan* plan;                    // the recipe's
    std::vector<Shape> kernel_shapes;    // of plan->kernels
    std::vector<std::uint32_t> outputs;  // of the expression: what the plan's outputs 0, 1, ... are
    Shape shape;                         // of these outputs
  };
  std::vector<Part> parts;
  std::shared_ptr<const Recipe> recipe;
};

/// Throws what evaluate(Bound) throws before it runs anything.
Evaluation inspect(const Recorded& recorded);

/// What the shape of a graph's output comes from: the leaves and index nodes that it depends on, as a bit for each
/// leaf number. To be asked of a recorded graph, since simplifying can drop a leaf (x * 0) but not its shape.
std::vector<bool> leaves_of(const Graph& recorded, Operand output);

}  // namespace sinter::inline v1::jit
