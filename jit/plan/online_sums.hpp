// Sums relative to a row's maximum or mean that need only one pass over the row (online softmax, Welford).
#pragma once
#include <optional>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// A sum of a function of v and of another reduction of v, its base. It is computed in the same pass as the base,
/// relative to a shift, the base's value so far; when the shift changes, the sum is rescaled.
struct OnlineSum {
  enum class Kind : std::uint8_t { Exponentials, Squares };

  Kind kind;
  Operand sum;
  Operand base;       // amax(v) or sum(v)
  Operand shift;      // the maximum, or 0 if that is not finite; the mean
  Operand deviation;  // v - shift
};

/// The OnlineSum of a sum of exp(v - amax(v)), of exp(v - where(isfinite(amax(v)), amax(v), 0)) or of (v - sum(v) /
/// count)^2; nullopt for any other node. `graph` is a kernel's, so all its reductions reduce the same axes.
std::optional<OnlineSum> online_sum(const Graph& graph, Operand sum);

}  // namespace sinter::inline v1::jit
