// Extents of a tensor: up to eight dimensions, stored inline.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace sinter::inline v1 {

inline constexpr int max_ndim = 8;

/// The extents (or strides) of a tensor, outermost first. Shapes accept any integral types: Shape{2, n, 3u}.
class Shape {
 public:
  constexpr Shape() = default;
  template <std::integral... I>
  constexpr Shape(I... extents) : ndim_(checked_ndim(sizeof...(I))), extents_{static_cast<std::int64_t>(extents)...} {}
  explicit Shape(std::span<const std::int64_t> extents);

  constexpr int ndim() const noexcept { return ndim_; }
  /// Negative axes count from the end. Throws IndexError.
  constexpr std::int64_t operator[](int axis) const { return extents_[checked(axis)]; }
  constexpr std::int64_t& operator[](int axis) { return extents_[checked(axis)]; }
  constexpr const std::int64_t* begin() const noexcept { return extents_.data(); }
  constexpr const std::int64_t* end() const noexcept { return extents_.data() + ndim_; }
  constexpr std::size_t size() const noexcept { return static_cast<std::size_t>(ndim_); }
  constexpr bool empty() const noexcept { return ndim_ == 0; }
  /// Number of elements; 1 for a 0-d shape.
  constexpr std::int64_t numel() const noexcept {
    std::int64_t n = 1;
    for (std::int64_t e : *this) n *= e;
    return n;
  }
  /// Throws ShapeError for more than eight dimensions.
  void push_back(std::int64_t extent);

  friend constexpr bool operator==(const Shape& a, const Shape& b) noexcept {
    if (a.ndim_ != b.ndim_) return false;
    for (int i = 0; i < a.ndim_; ++i)  // a few words: faster than a call of memcmp
      if (a.extents_[i] != b.extents_[i]) return false;
    return true;
  }

 private:
  static constexpr std::uint8_t checked_ndim(std::size_t n) {
    if (n > max_ndim) throw_ndim(n);
    return static_cast<std::uint8_t>(n);
  }
  constexpr int checked(int axis) const {
    const int from_start = axis < 0 ? axis + ndim_ : axis;
    if (from_start < 0 || from_start >= ndim_) throw_axis(axis, ndim_);
    return from_start;
  }
  [[noreturn]] static void throw_ndim(std::size_t n);
  [[noreturn]] static void throw_axis(int axis, int ndim);

  std::uint8_t ndim_ = 0;
  std::array<std::int64_t, max_ndim> extents_{};
};

/// "(2, 3)", "(3,)", "()", like Python tuples.
std::string to_string(const Shape& shape);

/// Throws ShapeError if an extent is negative or the number of elements times `element_size` exceeds 2^63 - 1.
void check_shape(const Shape& shape, std::size_t element_size);

/// Row-major strides in elements.
Shape contiguous_strides(const Shape& shape) noexcept;

/// The shape that both broadcast to, by NumPy's rules; false if there is none.
[[nodiscard]] bool broadcast(Shape& into, const Shape& with) noexcept;

}  // namespace sinter::inline v1
