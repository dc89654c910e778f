// Visits the kernels of an evaluation instead of running them: to compile, print or describe them.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <sinter/runtime/tensor_impl.hpp>
#include "../plan/plan_shapes.hpp"
#include "compiled_graph.hpp"

namespace sinter::inline v1::jit {

/// How the leaves and outputs of an evaluation are called that is part of one on a mesh.
struct MeshNames {
  std::vector<std::uint32_t> leaves;  // by leaf: its number among the mesh's values, which begin with its leaves
  std::vector<std::uint32_t> values;  // by output: the value that the ranks make of it; none if it is the user's
  bool reduces_parts = false;         // leaves are the parts of all ranks, and outputs the values
};

/// A plan of an inspected evaluation, and its leaves.
struct CapturedPlan {
  std::shared_ptr<const CompiledGraph> compiled;  // keeps the plan alive
  const ExecutablePlan* ready;
  PlanShapes shapes;
  std::vector<runtime::TensorRef> leaves;
  std::optional<MeshNames> names;  // on a mesh
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

/// Sees the plans of an evaluation in the order in which they would run.
class KernelVisitor {
 public:
  virtual ~KernelVisitor() = default;

  /// Whether the ranks of a mesh are visited after the first one, too.
  virtual bool visits_all_ranks() const noexcept { return false; }
  /// Comes before the plan's kernels.
  virtual void plan(CapturedPlan) {}
  /// `nest` is null for a matrix product, which a BLAS runs, and for a kernel that has nothing to write.
  virtual void kernel(const Executable& kernel, const LoopNest* nest, bool aliased, Device device) = 0;
  virtual void collective(const Collective&) {}
};

}  // namespace sinter::inline v1::jit
