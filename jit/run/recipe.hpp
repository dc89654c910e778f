// From recorded graphs to plans that are ready to run, and kept.
#pragma once
#include <atomic>
#include <boost/container/small_vector.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <runtime/trace/span.hpp>
#include "../plan/plan.hpp"
#include "executable.hpp"
#include "specialized_recipes.hpp"

namespace sinter::inline v1::jit {

/// A plan with its kernels.
struct ReadyPlan {
  ReadyPlan(Plan p, std::vector<std::uint32_t> o);

  Plan plan;
  std::vector<std::unique_ptr<Executable>> kernels;  // of plan.kernels
  std::vector<std::uint32_t> outputs;                // of the evaluation: what the plan's outputs 0, 1, ... are
};

/// What of shapes decides about a plan: ranks, and which extents are 0, 1, and equal.
using ShapeKey = boost::container::small_vector<std::uint16_t, 24>;
ShapeKey shape_key(std::span<runtime::TensorImpl* const> leaves);

/// What is known of one recorded graph. Plans are made when first asked for.
class Recipe : public std::enable_shared_from_this<Recipe> {
 public:
  Recipe(Graph recorded, bool eager);

  /// What it is found by.
  const Graph& recorded() const noexcept { return recorded_; }
  /// What it evaluates: unless it is eager, without common subexpressions.
  const Graph& graph() const noexcept { return merged_ ? *merged_ : recorded_; }
  bool eager() const noexcept { return eager_; }
  /// What to run for these scalars (SpecializedRecipes::choose).
  const Recipe& specialized_for(const Scalar* scalars, bool runs) const {
    return specialized_.none() ? *this : specialized_.choose(*this, scalars, runs);
  }
  std::size_t outputs() const noexcept { return recorded_.outputs().size(); }
  DType dtype(std::size_t output) const noexcept { return recorded_[recorded_.outputs()[output]].dtype; }
  /// Numbers of the leaves that an output depends on: what its shape comes from.
  std::span<const std::uint32_t> leaves(std::size_t output) const noexcept { return leaves_[output]; }
  /// Numbers of the leaves that it reads at computed places.
  std::span<const std::uint32_t> arrays(std::size_t output) const noexcept { return arrays_[output]; }

  /// A C++ integer that is used as a narrower dtype than int64, and must fit it.
  struct NarrowScalar {
    std::uint32_t number;
    DType dtype;
  };
  std::span<const NarrowScalar> narrow_scalars() const noexcept { return narrow_scalars_; }
  /// An operation that does not take any numbers, with those among its operands (graph/arguments.hpp).
  struct LimitedOperation {
    struct Number {
      std::optional<ScalarUse> scalar;
      std::optional<double> constant;
    };
    Op op;
    std::vector<Number> operands;
  };
  std::span<const LimitedOperation> limited_operations() const noexcept { return limited_; }
  /// Whether there are any of these.
  bool limits_scalars() const noexcept { return limits_scalars_; }

  /// Whether shapes decide about plans: these are asked for with the leaves.
  bool reshapes() const noexcept { return reshapes_; }
  /// The plan of all outputs for leaves of these shapes, where the recipe reshapes.
  const ReadyPlan& plan_for(std::span<runtime::TensorImpl* const> leaves) const;

  /// One plan for all outputs, which then have one shape.
  const ReadyPlan& together() const {
    const ReadyPlan* ready = plans_[0].load(std::memory_order_acquire);
    return ready ? *ready : make(0);
  }
  const ReadyPlan& alone(std::size_t output) const {
    const ReadyPlan* ready = plans_[1 + output].load(std::memory_order_acquire);
    return ready ? *ready : make(1 + output);
  }

 private:
  runtime::TraceSpan planning() const noexcept;
  const ReadyPlan& make(std::size_t which) const;
  const Graph& simplified() const;  // under the mutex

  /// Plans by what is alike in shapes. Immutable once published.
  struct ShapedPlan {
    ShapedPlan(const ShapeKey& k, std::unique_ptr<const ReadyPlan> p, const ShapedPlan* n)
        : key(k), plan(std::move(p)), next(n) {}

    ShapeKey key;
    std::unique_ptr<const ReadyPlan> plan;
    const ShapedPlan* next;
  };
  /// Whether an array that loads read from is empty. An index that is computed once for each row must not be used then,
  /// as fused kernels do ahead of a walk: it stands for no element.
  bool loads_from_nothing(std::span<runtime::TensorImpl* const> leaves) const noexcept;
  const ReadyPlan& make_for(const ShapeKey& key, std::span<runtime::TensorImpl* const> leaves) const;

  Graph recorded_;
  std::optional<Graph> merged_;
  SpecializedRecipes specialized_;
  bool eager_, reshapes_, limits_scalars_;
  std::vector<std::vector<std::uint32_t>> leaves_, arrays_;
  std::vector<NarrowScalar> narrow_scalars_;
  std::vector<LimitedOperation> limited_;
  mutable std::mutex mutex_;
  // Of all outputs together: what is contracted to fma must not depend on whether their shapes agree.
  mutable std::optional<Graph> simplified_;
  mutable std::vector<std::unique_ptr<const ReadyPlan>> owned_;
  mutable std::vector<std::atomic<const ReadyPlan*>> plans_;  // together, then each output alone
  mutable std::atomic<const ShapedPlan*> shaped_{nullptr};    // the newest
  mutable std::vector<std::unique_ptr<const ShapedPlan>> all_shaped_;
};

/// The recipe of a graph, found by its content: equal graphs share one. Thread-safe. Those of types stay until
/// drop_recipes, of the others the recently used.
std::shared_ptr<const Recipe> recipe_for(Graph recorded, bool eager, bool of_type);

/// The graph with its outputs converted; dtypes[i] is the dtype of output i, or absent (any_dtype) to leave it.
Graph with_output_dtypes(Graph recorded, std::span<const std::uint8_t> dtypes);

/// What, beside its type, an evaluation's recipe depends on, as words that are compared.
using RecipeKey = std::span<const std::uint16_t>;

/// The recipe that an entry holds for a key, or null; it stays until the caller's Reading ends. Lock-free.
const Recipe* find_recipe(const Entry& entry, RecipeKey key) noexcept;
/// Adds one; does nothing when another thread did, or when the entry is full (then the global table still serves).
void add_recipe(Entry& entry, RecipeKey key, const Recipe& recipe);

/// Takes all recipes out, of entries too. Those that are in use stay for as long as they are.
void drop_recipes();

}  // namespace sinter::inline v1::jit
