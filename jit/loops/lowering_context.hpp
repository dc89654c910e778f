// What all parts of a lowering read: the kernel, its class, and the passes over its rows.
#pragma once
#include "../plan/class_key.hpp"
#include "../plan/row_passes.hpp"

namespace sinter::inline v1::jit::loops {

struct LoweringContext {
  LoweringContext(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c);

  bool reduces() const noexcept { return c.reduced > 0; }
  /// Whether a team may have no row.
  bool has_idle_teams() const noexcept { return scheme.row_per_element || scheme.team > 0; }
  int row_ndim() const noexcept { return reduces() ? c.ndim - c.reduced : 0; }
  int domain_ndim() const noexcept { return c.ndim - row_ndim(); }
  int stages() const noexcept { return passes.stages.count; }
  /// Whether it is unsafe to evaluate out-of-range elements: that could record a spurious fault or read out of bounds.
  bool needs_control_flow_guard() const noexcept;
  int teams_per_block() const noexcept { return scheme.team > 0 ? scheme.block / scheme.team : 1; }
  /// Rows that a thread processes at once.
  int rows_of_thread() const noexcept { return scheme.row_per_element ? c.vector_width : 1; }
  /// The dtype of positions in a row that are results.
  DType position_dtype() const noexcept { return c.wide ? DType::Int64 : DType::Int32; }

  const Kernel& kernel;
  const Graph& graph;
  const KernelTraits& traits;
  const KernelClass& c;
  const RowConfig& scheme;
  const RowPasses passes;
};

}  // namespace sinter::inline v1::jit::loops
