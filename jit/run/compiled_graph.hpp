// Recorded graphs with their cached plans.
#pragma once
#include <atomic>
#include <boost/container/small_vector.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <runtime/trace/span.hpp>
#include "../plan/costly_parts.hpp"
#include "../plan/plan.hpp"
#include "executable.hpp"
#include "specialized_graphs.hpp"

namespace sinter::inline v1::jit {

/// A plan with its kernels.
struct ExecutablePlan {
  /// Where a plan writes an output: a kernel, and the position among its outputs.
  struct Writer {
    std::int32_t kernel;
    std::uint32_t position;
  };

  explicit ExecutablePlan(Plan p);

  /// The last kernel that reads elements of a leaf; -1 if none does.
  std::int32_t last_read_of(std::size_t leaf) const noexcept {
    return leaf < last_reads.size() ? last_reads[leaf] : -1;
  }

  Plan plan;
  std::vector<std::unique_ptr<Executable>> kernels;  // of plan.kernels
  std::vector<Writer> writers;                       // by output
  std::vector<std::int32_t> last_reads;              // by leaf
  std::vector<CostlyPart> costly_parts;              // of a plan for all shapes
};

/// What a plan for given shapes depends on: numbers of dims, which extents are 0, 1, or equal, and RowValues.
using ShapeKey = boost::container::small_vector<std::uint16_t, 24>;
ShapeKey shape_key(std::span<runtime::TensorImpl* const> leaves, RowValues rows);

/// A recorded graph and its plans, which are made when first requested.
class CompiledGraph : public std::enable_shared_from_this<CompiledGraph> {
 public:
  CompiledGraph(Graph recorded, bool eager);

  /// The graph that it is looked up by.
  const Graph& recorded() const noexcept { return recorded_; }
  /// The graph that it evaluates: unless eager, without common subexpressions.
  const Graph& graph() const noexcept { return deduplicated_ ? *deduplicated_ : recorded_; }
  bool eager() const noexcept { return eager_; }
  /// The compiled graph to run for these scalars (SpecializedGraphs::choose).
  const CompiledGraph& specialized_for(const Scalar* scalars, bool runs) const {
    return specialized_.is_trivial() ? *this : specialized_.choose(*this, scalars, runs);
  }
  std::size_t outputs() const noexcept { return recorded_.outputs().size(); }
  DType dtype(std::size_t output) const noexcept { return recorded_[recorded_.outputs()[output]].dtype; }
  /// Numbers of the leaves that determine an output's shape.
  std::span<const std::uint32_t> leaves(std::size_t output) const noexcept { return leaves_[output]; }
  /// Numbers of the leaves that it gathers from.
  std::span<const std::uint32_t> arrays(std::size_t output) const noexcept { return arrays_[output]; }
  /// Whether some output gathers from a leaf.
  bool is_array(std::size_t leaf) const noexcept { return leaf < is_array_.size() && is_array_[leaf]; }

  /// A C++ integer that is converted to a dtype narrower than int64, which it must fit.
  struct NarrowScalar {
    std::uint32_t number;
    DType dtype;
  };
  std::span<const NarrowScalar> narrow_scalars() const noexcept { return narrow_scalars_; }
  /// An operation that accepts only some numbers, with its operands that are numbers (graph/arguments.hpp).
  struct ConstrainedOperation {
    struct Number {
      std::optional<ScalarUse> scalar;
      std::optional<double> constant;
    };
    Op op;
    std::vector<Number> operands;
  };
  std::span<const ConstrainedOperation> constrained_operations() const noexcept { return limited_; }
  /// Whether there are any scalars to check.
  bool constrains_scalars() const noexcept { return limits_scalars_; }

  /// Whether all plans depend on shapes: the graph reduces, multiplies matrices or broadcasts to another's shape.
  bool depends_on_shapes() const noexcept { return depends_on_shapes_; }
  /// What plans by shapes do with costly values of rows, where kernels have so many elements: recompute them unless
  /// there are some, and these leaves, or results of reductions, repeat them.
  RowValues row_values_for(std::span<runtime::TensorImpl* const> leaves, std::int64_t elements, bool is_cpu) const;
  /// The plan for leaves of these shapes. Any graph has one.
  const ExecutablePlan& plan_for(std::span<runtime::TensorImpl* const> leaves, RowValues rows) const;
  /// The plan for all shapes with which the outputs have one shape, unless all plans depend on shapes.
  const ExecutablePlan& plan_for_one_shape() const {
    const ExecutablePlan* ready = for_one_shape_.load(std::memory_order_acquire);
    return ready ? *ready : make();
  }

 private:
  runtime::TraceSpan planning() const noexcept;
  void report(const ExecutablePlan& made, runtime::TraceSpan& span) const;
  const ExecutablePlan& make() const;
  const Graph& simplified() const;  // under the mutex, for plans that depend on shapes

  /// Plans by pattern of shapes. Immutable once published.
  struct ShapedPlan {
    ShapedPlan(const ShapeKey& k, std::unique_ptr<const ExecutablePlan> p, const ShapedPlan* n)
        : key(k), plan(std::move(p)), next(n) {}

    ShapeKey key;
    std::unique_ptr<const ExecutablePlan> plan;
    const ShapedPlan* next;
  };
  /// Whether an array that loads gather from is empty. Fused kernels must not load at an index that is computed once
  /// for each row, ahead of a pass, since there is no valid index.
  bool gathers_from_empty(std::span<runtime::TensorImpl* const> leaves) const noexcept;
  const ExecutablePlan& make_for(const ShapeKey& key, std::span<runtime::TensorImpl* const> leaves,
                                 RowValues rows) const;

  Graph recorded_;
  std::optional<Graph> deduplicated_;
  SpecializedGraphs specialized_;
  bool eager_, depends_on_shapes_, multiplies_, limits_scalars_;
  std::vector<std::vector<std::uint32_t>> leaves_, arrays_;
  std::vector<bool> is_array_;
  std::vector<NarrowScalar> narrow_scalars_;
  std::vector<ConstrainedOperation> limited_;
  std::vector<CostlyPart> costly_parts_;  // of a graph that reduces
  mutable std::mutex mutex_;
  mutable std::optional<Graph> simplified_;
  mutable std::unique_ptr<const ExecutablePlan> owned_for_one_shape_;
  mutable std::atomic<const ExecutablePlan*> for_one_shape_{nullptr};
  mutable std::atomic<const ShapedPlan*> shaped_{nullptr};  // the newest
  mutable std::vector<std::unique_ptr<const ShapedPlan>> all_shaped_;
};

/// The compiled graph of a graph, looked up by content: equal graphs share one. Thread-safe. Those of types stay until
/// drop_compiled_graphs; of the others, only recently used ones stay.
std::shared_ptr<const CompiledGraph> compiled_graph_for(Graph recorded, bool eager, bool of_type);

/// The graph with its outputs converted; dtypes[i] is the dtype of output i, or absent (any_dtype) to leave it.
Graph with_output_dtypes(Graph recorded, std::span<const std::uint8_t> dtypes);

/// The words that, besides the type, determine an evaluation's compiled graph.
using CompiledGraphKey = std::span<const std::uint16_t>;

/// The compiled graph that a call-site cache has for a key, or null; it stays until the caller's EpochGuard ends.
/// Lock-free.
const CompiledGraph* find_compiled_graph(const CallSiteCache& site, CompiledGraphKey key) noexcept;
/// Adds one; does nothing if another thread did, or if the cache is full (the global table then still serves).
void add_compiled_graph(CallSiteCache& site, CompiledGraphKey key, const CompiledGraph& compiled);

/// Removes all compiled graphs, also from call-site caches. Those in use stay alive as long as they are used.
void drop_compiled_graphs();

}  // namespace sinter::inline v1::jit
