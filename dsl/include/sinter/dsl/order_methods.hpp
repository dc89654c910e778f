// The methods of sort.hpp and scan.hpp, which document them: x.sort(), x.topk(5), x.cumsum(0).
#pragma once
#include <cstdint>

#include <sinter/dsl/axis.hpp>
#include <sinter/jit/scan.hpp>

namespace sinter::inline v1::detail {

#define SINTER_NO_ORDER "complex numbers have no order: take real(z), imag(z) or abs(z) first"

/// Whether elements may be complex, as far as the type says.
template <class X>
inline constexpr bool has_order = !complex_element<typename X::value_type>;

/// The methods as functions, found by argument-dependent lookup.
template <class Self>
class OrderMethods {
 public:
  auto sort(Index axis = -1, bool descending = false, bool stable = false) const {
    static_assert(has_order<Self>, SINTER_NO_ORDER);
    return sorted(self(), axis, descending, stable);
  }
  auto argsort(Index axis = -1, bool descending = false, bool stable = false) const {
    static_assert(has_order<Self>, SINTER_NO_ORDER);
    return sorted_indices(self(), axis, descending, stable);
  }
  auto topk(std::int64_t k, Index axis = -1, bool largest = true, bool in_order = true) const {
    static_assert(has_order<Self>, SINTER_NO_ORDER);
    return first_sorted(self(), k, axis, largest, in_order);
  }
  auto kthvalue(std::int64_t k, Index axis = -1, KeepDim keep = false) const {
    static_assert(has_order<Self>, SINTER_NO_ORDER);
    return one_of_sorted(self(), k, axis, keep.keeps);
  }
  auto median() const {
    static_assert(has_order<Self>, SINTER_NO_ORDER);
    return median_of_all(self(), jit::NanPolicy::Propagates);
  }
  auto median(Index axis, KeepDim keep = false) const {
    static_assert(has_order<Self>, SINTER_NO_ORDER);
    return median_along(self(), axis, keep.keeps, jit::NanPolicy::Propagates);
  }
  auto nanmedian() const {
    static_assert(has_order<Self>, SINTER_NO_ORDER);
    return median_of_all(self(), jit::NanPolicy::Ignored);
  }
  auto nanmedian(Index axis, KeepDim keep = false) const {
    static_assert(has_order<Self>, SINTER_NO_ORDER);
    return median_along(self(), axis, keep.keeps, jit::NanPolicy::Ignored);
  }

  /// Scans; with T, the elements are converted to it first.
  template <class T = void>
  auto cumsum(Index axis) const {
    return scanned<T>(self(), axis, jit::Scan::Sum);
  }
  template <class T = void>
  auto cumprod(Index axis) const {
    return scanned<T>(self(), axis, jit::Scan::Prod);
  }
  auto logcumsumexp(Index axis) const { return scanned<void>(self(), axis, jit::Scan::LogSumExp); }
  auto cummax(Index axis) const {
    static_assert(has_order<Self>, SINTER_NO_ORDER);
    return scanned(self(), axis, jit::Extreme::Max);
  }
  auto cummin(Index axis) const {
    static_assert(has_order<Self>, SINTER_NO_ORDER);
    return scanned(self(), axis, jit::Extreme::Min);
  }

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace sinter::inline v1::detail
