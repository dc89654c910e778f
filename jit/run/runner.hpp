// Runs a compiled graph's plans on given arrays.
#pragma once
#include <sinter/jit/evaluate.hpp>
#include "../plan/faults.hpp"
#include "checks.hpp"
#include "compiled_graph.hpp"
#include "kernel_visitor.hpp"

namespace sinter::inline v1::jit {

/// The arguments of one evaluation.
struct Call {
  Leaves leaves;
  const Scalar* scalars = nullptr;
  runtime::TensorRef* outputs = nullptr;  // the compiled graph's outputs; a null one receives a new array
  Device device;
  bool is_typed = false;             // the graph follows from a type; a Lazy's has leaves for known values
  KernelVisitor* visitor = nullptr;  // if given, it sees the kernels, and nothing runs
  const MeshNames* names = nullptr;  // for the visitor, on a mesh
  bool marks_outputs = false;        // another stream may read an output before later kernels are done
  mutable const Kernel* faulting_kernel = nullptr;  // the first kernel that found a fault
  mutable RunFaults faults;                         // the faults that it found

  bool runs() const noexcept { return visitor == nullptr; }
};

/// Checks shapes and outputs, runs, and sets `outputs`. If it throws, no new array is in `outputs`, but kernels before
/// the one that failed may have written given ones. Faults on the CPU (an integer division by zero, an index out of
/// range) are thrown after everything has run.
void run(const CompiledGraph& compiled, const Call& call);

}  // namespace sinter::inline v1::jit
