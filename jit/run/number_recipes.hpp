// The recipes of a graph by which of its numbers are equal.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "../graph/common.hpp"

namespace sinter::inline v1::jit {

class Recipe;

/// Numbers of C++ are parameters, and each evaluation brings others. Where some are equal and this makes parts of the
/// graph equal, a recipe in which these numbers are one computes such parts once. Thread-safe.
class NumberRecipes {
 public:
  explicit NumberRecipes(const Graph& graph);
  ~NumberRecipes();
  NumberRecipes(const NumberRecipes&) = delete;
  NumberRecipes& operator=(const NumberRecipes&) = delete;

  /// Whether numbers never matter, as in almost every graph.
  bool none() const noexcept { return equal_.none(); }
  /// What to run for these numbers: `general`, whose graph it is, or one made for numbers that are equal so. Numbers
  /// that are equal only after others were not may be so by chance: the first time they run as the others did, so that
  /// a loop in which two numbers meet compiles nothing. Unless it `runs`, nothing changes for later calls.
  const Recipe& choose(const Recipe& general, const Scalar* scalars, bool runs) const;

 private:
  /// Immutable once published. Without a recipe the general one serves; `met`: its numbers were equal once.
  struct Known {
    EqualNumbers::Pattern pattern;
    bool met;
    std::unique_ptr<const Recipe> recipe;
    const Known* next;
  };
  const Known* find(const EqualNumbers::Pattern& pattern) const noexcept;
  const Recipe& add(const Recipe& general, const EqualNumbers::Pattern& pattern) const;
  const Known& publish(EqualNumbers::Pattern pattern, bool met, std::unique_ptr<const Recipe> recipe) const;

  const EqualNumbers equal_;
  mutable std::atomic<bool> general_ran_{false};
  mutable std::atomic<const Known*> newest_{nullptr};
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<const Known>> all_;
};

}  // namespace sinter::inline v1::jit
