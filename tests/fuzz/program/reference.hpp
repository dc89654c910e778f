// What the operations of random programs mean, written from their documentation. Nothing where there is no reference
// but Sinter itself: complex arithmetic.
#pragma once
#include <optional>
#include <span>

#include "plain.hpp"

namespace sinter::fuzz {

using Reference = std::optional<Plain>;

/// An operand: an array, or a number as it stands in a text.
struct Number {
  Category category;
  double value;
};
struct ReferenceOperand {
  const Plain* array = nullptr;  // null for a number
  Number number{};
};

Reference elementwise(Op op, std::span<const ReferenceOperand> operands);
/// `axes[i]` says whether axis i is combined; a correction is that of var and std.
Reference reduced(Op op, const Plain& x, const std::vector<bool>& axes, bool keeps, double correction);
Reference product(const Plain& a, const Plain& b);

Plain sorted(const Plain& x, int axis, bool descending);
/// The positions that sort x.
Plain sorted_positions(const Plain& x, int axis, bool descending);
/// Sums or products up to each element.
Reference scanned(const Plain& x, int axis, bool products);

}  // namespace sinter::fuzz
