// Accessor: access to a CPU tensor's elements by index, for hand-written loops.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sinter::inline v1 {

/// A pointer, extents and strides of a strided array with Ndim axes: what x.accessor<2>() returns, like C++23's
/// std::mdspan. It owns nothing and is valid while a tensor keeps the memory alive. Indices are not checked and count
/// from 0.
template <class T, int Ndim>
class Accessor {
  static_assert(Ndim > 0, "a tensor without axes has one element: read it with item(), or *x.data()");

 public:
  using element_type = T;
  using Extents = std::array<std::int64_t, static_cast<std::size_t>(Ndim)>;

  constexpr Accessor(T* data, const Extents& extents, const Extents& strides) noexcept
      : data_(data), extents_(extents), strides_(strides) {}
  /// Converts to an accessor of const elements.
  template <class U>
    requires std::is_same_v<T, const U>
  constexpr Accessor(const Accessor<U, Ndim>& o) noexcept : Accessor(o.data(), o.extents(), o.strides()) {}

  static constexpr int ndim() noexcept { return Ndim; }
  constexpr T* data() const noexcept { return data_; }
  constexpr const Extents& extents() const noexcept { return extents_; }
  constexpr const Extents& strides() const noexcept { return strides_; }
  constexpr std::int64_t size(int axis) const noexcept { return extents_[static_cast<std::size_t>(axis)]; }
  constexpr std::int64_t stride(int axis) const noexcept { return strides_[static_cast<std::size_t>(axis)]; }

  /// The element a(i, j).
  template <class... I>
    requires(sizeof...(I) == static_cast<std::size_t>(Ndim) && (std::is_convertible_v<I, std::int64_t> && ...))
  constexpr T& operator()(I... indices) const noexcept {
    std::size_t axis = 0;
    std::int64_t offset = 0;
    ((offset += static_cast<std::int64_t>(indices) * strides_[axis++]), ...);
    return data_[offset];
  }
  /// a[i][j]: the part at index i of the first axis.
  constexpr decltype(auto) operator[](std::int64_t i) const noexcept {
    T* const part = data_ + i * strides_[0];
    if constexpr (Ndim == 1) {
      return static_cast<T&>(*part);
    } else {
      std::array<std::int64_t, static_cast<std::size_t>(Ndim - 1)> extents, strides;
      for (std::size_t axis = 1; axis < extents_.size(); ++axis) {
        extents[axis - 1] = extents_[axis];
        strides[axis - 1] = strides_[axis];
      }
      return Accessor<T, Ndim - 1>(part, extents, strides);
    }
  }

 private:
  T* data_;
  Extents extents_, strides_;
};

}  // namespace sinter::inline v1
