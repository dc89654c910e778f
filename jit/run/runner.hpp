// Runs a compiled graph's plans on given arrays.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <sinter/jit/evaluate.hpp>
#include "../plan/faults.hpp"
#include "../plan/plan_shapes.hpp"
#include "checks.hpp"
#include "compiled_graph.hpp"

namespace sinter::inline v1::jit {

/// A plan of an inspected evaluation, and its leaves.
struct CapturedPlan {
  std::shared_ptr<const CompiledGraph> compiled;  // keeps the plan alive
  const ExecutablePlan* ready;
  PlanShapes shapes;
  std::vector<runtime::TensorRef> leaves;
};

/// One collective between the ranks of a mesh.
struct Collective {
  enum class Kind : std::uint8_t { AllReduce, AllGather } kind;
  Op op;            // that needs it
  DType dtype;      // of the elements sent
  double elements;  // per rank
  int ranks;
  int values = 1;  // that it combines
};

/// The texts of an evaluation's kernels.
struct KernelTexts {
  PrintSource& print;
  std::vector<runtime::KernelSource> texts;
};

/// The arguments of one evaluation.
struct Call {
  Leaves leaves;
  const Scalar* scalars = nullptr;
  runtime::TensorRef* outputs = nullptr;  // the compiled graph's outputs; a null one receives a new array
  Device device;
  bool is_typed = false;                          // the graph follows from a type; a Lazy's has leaves for known values
  bool runs = true;                               // false: only compiles what running would need
  bool marks_outputs = false;                     // another stream may read an output before later kernels are done
  KernelTexts* texts = nullptr;                   // if given, receives the kernels' texts; then nothing compiles
  std::vector<RowReport>* row_reports = nullptr;  // if given, receives one for each kernel; nothing compiles
  std::vector<CapturedPlan>* seen = nullptr;      // if given, receives the plans; nothing compiles
  std::vector<Collective>* collectives = nullptr;       // if given, receives a mesh's collectives
  std::vector<std::function<void()>>* later = nullptr;  // if given, receives functions that compile the kernels
  mutable const Kernel* faulting_kernel = nullptr;      // the first kernel that found a fault
  mutable RunFaults faults;                             // the faults that it found
};

/// Checks shapes and outputs, runs, and sets `outputs`. If it throws, `outputs` is unchanged, except for faults on the
/// CPU (an integer division by zero, an index out of range): these are thrown after everything has run.
void run(const CompiledGraph& compiled, const Call& call);

}  // namespace sinter::inline v1::jit
