// Sums of distances from a row's greatest element or from its mean, for which one pass through the row is enough.
#pragma once
#include <optional>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// A sum that asks for the result of another reduction, its lead, of the same values v. The pass that finds the lead
/// finds it as well: about a pivot, which is what is known of the lead so far.
struct OnlineSum {
  enum class Kind : std::uint8_t { Exponentials, Squares };

  Kind kind;
  Operand sum;
  Operand lead;      // amax(v) or sum(v)
  Operand pivot;     // what is subtracted: the greatest element, or 0 where that is not finite; the mean
  Operand distance;  // v - pivot
};

/// What a sum is where it is one of exp(v - amax(v)), of exp(v - where(isfinite(amax(v)), amax(v), 0)), or of
/// (v - sum(v) / count)^2; nothing of any other node. Of a kernel's graph, all reductions of which are along the same
/// axes.
std::optional<OnlineSum> online_sum(const Graph& graph, Operand sum);

}  // namespace sinter::inline v1::jit
