// Runs a recipe's plans on given arrays.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <sinter/jit/evaluate.hpp>
#include "../plan/faults.hpp"
#include "../plan/plan_shapes.hpp"
#include "checks.hpp"
#include "recipe.hpp"

namespace sinter::inline v1::jit {

/// A plan of an evaluation that is looked at, and what it reads.
struct PlanSeen {
  std::shared_ptr<const Recipe> recipe;  // keeps the plan
  const ReadyPlan* ready;
  PlanShapes shapes;
  std::vector<runtime::TensorRef> leaves;
};

/// One exchange between the positions of a mesh.
struct Collective {
  enum class Kind : std::uint8_t { AllReduce, AllGather } kind;
  Op op;            // that asks for it
  DType dtype;      // of what is told
  double elements;  // of each position
  int positions;
};

/// The values of one evaluation.
struct Call {
  Leaves leaves;
  const Scalar* scalars = nullptr;
  runtime::TensorRef* outputs = nullptr;  // of the recipe's outputs; null ones, or all: new arrays
  Device device;
  bool runs = true;                                     // false: compiles what running would need
  std::vector<runtime::KernelSource>* texts = nullptr;  // if given, receives the kernels' texts; then nothing compiles
  std::vector<RowPlan>* row_plans = nullptr;            // if given, receives one for each kernel; nothing compiles
  std::vector<PlanSeen>* seen = nullptr;                // if given, receives the plans; nothing compiles
  std::vector<Collective>* collectives = nullptr;       // if given, receives what the positions of a mesh exchange
  std::vector<std::function<void()>>* later = nullptr;  // if given, receives what compiles the kernels
  mutable const Kernel* faulted = nullptr;              // the first that met a value that it cannot compute with
  mutable RunFaults met;                                // what it met
};

/// Checks shapes and outputs, runs, and sets `outputs`. Where it throws, `outputs` is as it was, but for an integer
/// divided by zero and an index out of range on the CPU: these are thrown when all is done.
void run(const Recipe& recipe, const Call& call);

}  // namespace sinter::inline v1::jit
