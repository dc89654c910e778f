// The meaning of random programs' operations, written from their documentation. nullopt if there is no reference other
// than Sinter itself: complex arithmetic.
#pragma once
#include <optional>
#include <span>

#include "plain.hpp"

namespace sinter::fuzz {

using Reference = std::optional<Plain>;

/// An operand: an array, or a number in a text.
struct Number {
  Category category;
  double value;
};
struct ReferenceOperand {
  const Plain* array = nullptr;  // null for a number
  Number number{};
};

Reference elementwise(Op op, std::span<const ReferenceOperand> operands);
/// `axes[i]` tells whether axis i is reduced; `correction` is that of var and std.
Reference reduced(Op op, const Plain& x, const std::vector<bool>& axes, bool keeps, double correction);
Reference product(const Plain& a, const Plain& b);

Plain sorted(const Plain& x, int axis, bool descending);
/// The positions that sort x.
Plain sorted_positions(const Plain& x, int axis, bool descending);
/// Cumulative sums or products.
Reference scanned(const Plain& x, int axis, bool products);

}  // namespace sinter::fuzz
