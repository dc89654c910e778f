#include "specialized_graphs.hpp"

#include <runtime/fork.hpp>
#include "compiled_graph.hpp"

namespace sinter::inline v1::jit {
namespace {

/// Patterns that are remembered; for further patterns an existing graph runs.
constexpr int max_patterns = 8;

}  // namespace

SpecializedGraphs::SpecializedGraphs(const Graph& graph) : equal_(graph) {}
SpecializedGraphs::~SpecializedGraphs() = default;

const CompiledGraph& SpecializedGraphs::choose(const CompiledGraph& general, const Scalar* scalars, bool runs) const {
  const EqualScalars::EqualityClasses pattern = equal_.pattern(scalars);
  if (EqualScalars::all_differ(pattern)) {
    if (runs && !general_ran_.load(std::memory_order_relaxed)) general_ran_.store(true, std::memory_order_relaxed);
    return general;
  }
  const bool first = !newest_.load(std::memory_order_acquire) && !general_ran_.load(std::memory_order_relaxed);
  const Specialization* known = find(pattern);
  if (known && !known->seen_once) return known->compiled ? *known->compiled : general;
  if (first || known) return add(general, pattern);
  if (runs && patterns_.load(std::memory_order_relaxed) < max_patterns) remember(pattern);
  return nearest(general, pattern);
}

const SpecializedGraphs::Specialization* SpecializedGraphs::find(
    const EqualScalars::EqualityClasses& pattern) const noexcept {
  const Specialization* known = newest_.load(std::memory_order_acquire);
  while (known && known->pattern != pattern) known = known->next;
  return known;
}

const CompiledGraph& SpecializedGraphs::nearest(const CompiledGraph& general,
                                                const EqualScalars::EqualityClasses& pattern) const noexcept {
  for (const Specialization* k = newest_.load(std::memory_order_acquire); k; k = k->next)
    if (k->compiled && EqualScalars::satisfies(k->pattern, pattern)) return *k->compiled;
  return general;
}

void SpecializedGraphs::remember(const EqualScalars::EqualityClasses& pattern) const {
  const runtime::ForkSafeLock lock(mutex_);
  if (!find(pattern) && patterns_.load(std::memory_order_relaxed) < max_patterns) publish(pattern, true, nullptr);
}

const CompiledGraph& SpecializedGraphs::add(const CompiledGraph& general,
                                            const EqualScalars::EqualityClasses& pattern) const {
  const runtime::ForkSafeLock lock(mutex_);
  const Specialization* known = find(pattern);
  if (!known || known->seen_once) {
    std::optional<Graph> merged = equal_.specialize(general.graph(), pattern);
    known =
        &publish(pattern, false, merged ? std::make_shared<const CompiledGraph>(std::move(*merged), false) : nullptr);
  }
  return known->compiled ? *known->compiled : general;
}

/// Inserts before older entries of the pattern. Under the mutex.
const SpecializedGraphs::Specialization& SpecializedGraphs::publish(
    EqualScalars::EqualityClasses pattern, bool seen_once, std::shared_ptr<const CompiledGraph> compiled) const {
  if (!find(pattern)) patterns_.fetch_add(1, std::memory_order_relaxed);
  all_.push_back(std::make_unique<const Specialization>(
      Specialization{std::move(pattern), seen_once, std::move(compiled), newest_.load(std::memory_order_relaxed)}));
  newest_.store(all_.back().get(), std::memory_order_release);
  return *all_.back();
}

}  // namespace sinter::inline v1::jit
