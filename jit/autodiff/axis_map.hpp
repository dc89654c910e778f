// Views of values of a graph: their axes in another order, and with new ones.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include <sinter/jit/graph.hpp>
#include <sinter/jit/recorded.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

/// For each axis of a view, counted from the last one, the axis of the value that it shows, counted the same way, or
/// `added`: a new axis with an extent of 1. Axes of the value that it does not show have an extent of 1.
class AxisMap {
 public:
  static constexpr std::int8_t added = -1;

  /// Inserts the axes that a reduction along `axes` has dropped from a value of `ndim` axes.
  static AxisMap restoring(std::uint8_t axes, int ndim);
  /// Swaps the last two of `ndim` axes.
  static AxisMap swapping(int ndim);

  void push_back(std::int8_t axis) { axes_.push_back(axis); }
  int ndim() const noexcept { return static_cast<int>(axes_.size()); }
  int operator[](int axis) const noexcept { return axes_[static_cast<std::size_t>(axis)]; }
  bool is_identity() const noexcept;
  /// The view of a tensor, or of its shape, that broadcasts to a value with the axes of this map.
  runtime::TensorRef view(const runtime::TensorImpl& t) const;
  friend auto operator<=>(const AxisMap&, const AxisMap&) = default;

 private:
  std::vector<std::int8_t> axes_;
};

}  // namespace sinter::inline v1::jit
