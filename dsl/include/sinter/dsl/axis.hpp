// Positions and axes as arguments.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>

#include <sinter/runtime/shape.hpp>

namespace sinter::inline v1::detail {

template <class I>
concept position_like = std::convertible_to<I, std::int64_t> && !std::floating_point<I>;

/// A position or an axis: any integer except a bool, which C++ would convert.
struct Index {
  std::int64_t value;

  template <position_like I>
  constexpr Index(I i) : value(static_cast<std::int64_t>(i)) {
    static_assert(!std::is_same_v<I, bool>, "a position or an axis is an integer, not a bool; masks go to where");
  }
  constexpr operator std::int64_t() const noexcept { return value; }
};

/// Whether a reduction keeps its reduce axes, with an extent of 1.
struct KeepDim {
  bool keeps;

  template <std::same_as<bool> B>
  constexpr KeepDim(B keep) : keeps(keep) {}
};

/// The reduce axes: one, several in braces or in a range, or all. Negative ones count from the end.
class Axes {
 public:
  /// All axes.
  constexpr Axes() = default;
  constexpr Axes(KeepDim keep) : keeps(keep.keeps) {}
  template <position_like I>
  constexpr Axes(I axis) : Axes({Index(axis)}) {}
  constexpr Axes(std::initializer_list<Index> axes) {
    for (const Index axis : axes) add(axis);
  }
  template <class R>
    requires std::convertible_to<const R&, std::span<const std::int64_t>>
  constexpr Axes(const R& axes) {
    for (const std::int64_t axis : std::span<const std::int64_t>(axes)) add(axis);
  }

  constexpr bool all() const noexcept { return count_ == 0; }
  constexpr std::span<const std::int64_t> given() const noexcept { return {axes_.data(), count_}; }

  bool keeps = false;

 private:
  // Holds one axis more than a tensor can have: with that many, one must be out of range or repeated.
  constexpr void add(std::int64_t axis) noexcept {
    if (count_ < axes_.size()) axes_[count_++] = axis;
  }

  std::array<std::int64_t, max_ndim + 1> axes_{};
  std::size_t count_ = 0;
};

}  // namespace sinter::inline v1::detail

namespace sinter::inline v1 {

/// The last argument of a reduction: keeps the reduce axes, with an extent of 1.
inline constexpr detail::KeepDim keepdim = true;

}  // namespace sinter::inline v1
