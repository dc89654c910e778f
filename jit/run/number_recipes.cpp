#include "number_recipes.hpp"

#include <runtime/fork.hpp>
#include "recipe.hpp"

namespace sinter::inline v1::jit {
namespace {

/// Patterns that are kept; numbers that are equal in yet another way run the general recipe.
constexpr std::size_t most_patterns = 8;

}  // namespace

NumberRecipes::NumberRecipes(const Graph& graph) : equal_(graph) {}
NumberRecipes::~NumberRecipes() = default;

const Recipe& NumberRecipes::choose(const Recipe& general, const Scalar* scalars, bool runs) const {
  const EqualNumbers::Pattern pattern = equal_.pattern(scalars);
  const bool first = !newest_.load(std::memory_order_acquire) && !general_ran_.load(std::memory_order_relaxed);
  if (EqualNumbers::all_differ(pattern)) {
    if (runs && !general_ran_.load(std::memory_order_relaxed)) general_ran_.store(true, std::memory_order_relaxed);
    return general;
  }
  const Known* known = find(pattern);
  if (known && !known->met) return known->recipe ? *known->recipe : general;
  if (first || (known && runs)) return add(general, pattern);
  if (runs) {
    const runtime::ForkSafeLock lock(mutex_);
    if (!find(pattern) && all_.size() < most_patterns) publish(pattern, true, nullptr);
  }
  return general;
}

const NumberRecipes::Known* NumberRecipes::find(const EqualNumbers::Pattern& pattern) const noexcept {
  const Known* known = newest_.load(std::memory_order_acquire);
  while (known && known->pattern != pattern) known = known->next;
  return known;
}

const Recipe& NumberRecipes::add(const Recipe& general, const EqualNumbers::Pattern& pattern) const {
  const runtime::ForkSafeLock lock(mutex_);
  const Known* known = find(pattern);
  if (!known || known->met) {
    std::optional<Graph> merged = equal_.merged(general.graph(), pattern);
    known = &publish(pattern, false, merged ? std::make_unique<const Recipe>(std::move(*merged), false) : nullptr);
  }
  return known->recipe ? *known->recipe : general;
}

const NumberRecipes::Known& NumberRecipes::publish(EqualNumbers::Pattern pattern, bool met,
                                                   std::unique_ptr<const Recipe> recipe) const {
  all_.push_back(std::make_unique<const Known>(
      Known{std::move(pattern), met, std::move(recipe), newest_.load(std::memory_order_relaxed)}));
  newest_.store(all_.back().get(), std::memory_order_release);
  return *all_.back();
}

}  // namespace sinter::inline v1::jit
