// Runs a recipe's plans on given arrays.
#pragma once
#include <span>
#include <vector>

#include <sinter/jit/evaluate.hpp>
#include "checks.hpp"
#include "recipe.hpp"

namespace sinter::inline v1::jit {

/// The values of one evaluation.
struct Call {
  Leaves leaves;
  const Scalar* scalars = nullptr;
  runtime::TensorRef* outputs = nullptr;  // of the recipe's outputs; null ones, or all: new arrays
  Device device;
  bool runs = true;                                     // false: compiles what running would need
  std::vector<runtime::KernelSource>* texts = nullptr;  // if given, receives the kernels' texts; then nothing compiles
  mutable const Kernel* faulted = nullptr;              // the first that met a value that it cannot compute with
};

/// Checks shapes and outputs, runs, and sets `outputs`. Where it throws, `outputs` is as it was, but for an integer
/// divided by zero on the CPU: this is thrown when all is done.
void run(const Recipe& recipe, const Call& call);

/// The shapes that a plan's kernels run over, where its outputs have shape `outputs`.
std::vector<Shape> kernel_shapes(const Plan& plan, const Shape& outputs, Leaves leaves);

}  // namespace sinter::inline v1::jit
