// Compiled graphs specialized by which of a graph's scalars are equal.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "../passes/common_subexpressions.hpp"

namespace sinter::inline v1::jit {

class CompiledGraph;

/// Scalars are kernel parameters, so their values differ between evaluations. Where some are equal and this makes
/// costly parts of the graph equal, a specialized graph computes such parts once. Thread-safe.
class SpecializedGraphs {
 public:
  explicit SpecializedGraphs(const Graph& graph);
  ~SpecializedGraphs();
  SpecializedGraphs(const SpecializedGraphs&) = delete;
  SpecializedGraphs& operator=(const SpecializedGraphs&) = delete;

  /// Whether equal scalars never save work, as in almost every graph.
  bool is_trivial() const noexcept { return equal_.is_trivial(); }
  /// What to run for these scalars: `general`, or a graph specialized from it. A pattern of equal scalars that first
  /// appears after a run without it may be a coincidence: its first run takes an existing compiled graph, so a loop in
  /// which two scalars happen to be equal once compiles nothing. With `runs` false, this returns what the next run
  /// would take and does not count as a run.
  const CompiledGraph& choose(const CompiledGraph& general, const Scalar* scalars, bool runs) const;

 private:
  /// A list node; immutable once published.
  struct Specialization {
    EqualScalars::EqualityClasses pattern;
    bool seen_once;                                 // no graph was compiled for it yet
    std::shared_ptr<const CompiledGraph> compiled;  // null: the general graph is used
    const Specialization* next;
  };
  const Specialization* find(const EqualScalars::EqualityClasses& pattern) const noexcept;
  /// An existing graph that computes the right values for the pattern.
  const CompiledGraph& nearest(const CompiledGraph& general,
                               const EqualScalars::EqualityClasses& pattern) const noexcept;
  void remember(const EqualScalars::EqualityClasses& pattern) const;
  const CompiledGraph& add(const CompiledGraph& general, const EqualScalars::EqualityClasses& pattern) const;
  const Specialization& publish(EqualScalars::EqualityClasses pattern, bool seen_once,
                                std::shared_ptr<const CompiledGraph> compiled) const;

  const EqualScalars equal_;
  mutable std::atomic<bool> general_ran_{false};
  mutable std::atomic<const Specialization*> newest_{nullptr};
  mutable std::atomic<int> patterns_{0};
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<const Specialization>> all_;
};

}  // namespace sinter::inline v1::jit
