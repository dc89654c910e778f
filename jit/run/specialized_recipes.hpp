// The recipes of a graph by which of its scalars are equal.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "../graph/common_subexpressions.hpp"

namespace sinter::inline v1::jit {

class Recipe;

/// Scalars are kernel parameters, so their values differ between evaluations. Where some are equal and this makes
/// costly parts of the graph equal, a specialized recipe computes such parts once. Thread-safe.
class SpecializedRecipes {
 public:
  explicit SpecializedRecipes(const Graph& graph);
  ~SpecializedRecipes();
  SpecializedRecipes(const SpecializedRecipes&) = delete;
  SpecializedRecipes& operator=(const SpecializedRecipes&) = delete;

  /// Whether scalars never matter, as in almost every graph.
  bool none() const noexcept { return equal_.none(); }
  /// What to run for these scalars: `general`, whose graph it is, or a specialized recipe. Scalars that are equal only
  /// after others were not may be so by coincidence: the first time, a recipe that is known runs, so that a loop in
  /// which two of them meet compiles nothing. Unless it `runs`, this gives what the next run would, and does not count
  /// as one; but what is asked for first is made.
  const Recipe& choose(const Recipe& general, const Scalar* scalars, bool runs) const;

 private:
  /// Immutable once published.
  struct Known {
    EqualScalars::Pattern pattern;
    bool seen_once;                        // nothing was made for it yet
    std::shared_ptr<const Recipe> recipe;  // without one the general recipe serves
    const Known* next;
  };
  const Known* find(const EqualScalars::Pattern& pattern) const noexcept;
  /// One that computes the right values for the pattern without being made for it.
  const Recipe& nearest(const Recipe& general, const EqualScalars::Pattern& pattern) const noexcept;
  void remember(const EqualScalars::Pattern& pattern) const;
  const Recipe& add(const Recipe& general, const EqualScalars::Pattern& pattern) const;
  const Known& publish(EqualScalars::Pattern pattern, bool seen_once, std::shared_ptr<const Recipe> recipe) const;

  const EqualScalars equal_;
  mutable std::atomic<bool> general_ran_{false};
  mutable std::atomic<const Known*> newest_{nullptr};
  mutable std::atomic<int> patterns_{0};
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<const Known>> all_;
};

}  // namespace sinter::inline v1::jit
