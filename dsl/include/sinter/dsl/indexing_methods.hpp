// The methods of indexing.hpp, which documents them: x.take(i), x.gather(0, i), x.masked_fill(mask, 0).
#pragma once
#include <cstdint>
#include <utility>

#include <sinter/dsl/axis.hpp>
#include <sinter/dsl/device_rules.hpp>

namespace sinter::inline v1::detail {

struct ExpressionTag;

/// Which elements are read by indices along an axis.
enum class GatherKind : std::uint8_t {
  Rows,          // x[i]: all of the other axes; the indices' axes come first
  Embedding,     // the same for a matrix
  Select,        // all of the other axes; the indices' axis, if any, replaces the axis
  Gather,        // each index reads at its own position along the other axes
  TakeAlongDim,  // the same, after indices and x are broadcast against each other
};

/// Checks the types of a tensor and of indices, or of a mask and a value, at the user's call; defined in indexing.hpp.
template <class X, class I>
struct GatherCheck;
template <class X, class M, class V>
struct FillCheck;
#define SINTER_NO_INDICES                                                                                              \
  "indices are integers in a tensor, as tensor({0, 2}), or an expression: convert floats with "                        \
  "cast<std::int64_t>(i); a mask of bools is for where(mask, x, y), masked_fill(x, mask, value) and masked_select(x, " \
  "mask)"
#define SINTER_NO_MASK "a mask is made of bools: write mask != 0"
#define SINTER_HIGHER_VALUE "the value does not fit the tensor's dtype: convert one of them with cast<T>(x)"

/// The methods as functions, found by argument-dependent lookup.
template <class Self>
class IndexingMethods {
 public:
  /// The elements at row-major positions. An x that is an expression or has no flat view is copied immediately.
  template <class I>
  auto take(I&& positions) const {
    static_assert(GatherCheck<Self, I>::integers, SINTER_NO_INDICES);
    static_assert(GatherCheck<Self, I>::devices, SINTER_DIFFERENT_DEVICES);
    return read_flat(self(), std::forward<I>(positions));
  }
  template <class I>
  auto index_select(Index axis, I&& positions) const {
    static_assert(GatherCheck<Self, I>::integers, SINTER_NO_INDICES);
    static_assert(GatherCheck<Self, I>::devices, SINTER_DIFFERENT_DEVICES);
    return gather_along(GatherKind::Select, self(), axis, std::forward<I>(positions));
  }
  template <class I>
  auto gather(Index axis, I&& positions) const {
    static_assert(GatherCheck<Self, I>::integers, SINTER_NO_INDICES);
    static_assert(GatherCheck<Self, I>::devices, SINTER_DIFFERENT_DEVICES);
    return gather_along(GatherKind::Gather, self(), axis, std::forward<I>(positions));
  }
  template <class I>
  auto take_along_dim(I&& positions, Index axis) const {
    static_assert(GatherCheck<Self, I>::integers, SINTER_NO_INDICES);
    static_assert(GatherCheck<Self, I>::devices, SINTER_DIFFERENT_DEVICES);
    return gather_along(GatherKind::TakeAlongDim, self(), axis, std::forward<I>(positions));
  }
  template <class M, class V>
  auto masked_fill(M&& mask, V&& value) const {
    static_assert(FillCheck<Self, M, V>::mask, SINTER_NO_MASK);
    static_assert(FillCheck<Self, M, V>::value, SINTER_HIGHER_VALUE);
    static_assert(FillCheck<Self, M, V>::devices, SINTER_DIFFERENT_DEVICES);
    return fill_where(self(), std::forward<M>(mask), std::forward<V>(value));
  }

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace sinter::inline v1::detail
