// Conversion of C++ numbers to elements: a value that the dtype cannot hold is an error, never another number.
#pragma once
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <sinter/jit/program.hpp>

namespace sinter::inline v1::detail {

/// A compile-time integer such as boost::hana's 2_c or std::integral_constant.
template <class C>
concept integral_constant = std::is_empty_v<C> && requires {
  typename C::value_type;
  requires std::integral<typename C::value_type>;
  { C::value } -> std::convertible_to<std::int64_t>;
};

/// A C++ number as a type, such as inf or the default value of an omitted operand.
template <Category C, std::uint64_t Bits>
struct FixedNumber {
  static constexpr Category category = C;
  static constexpr std::uint64_t bits = Bits;

  /// A template, so that no further conversion makes it a position or an axis.
  template <std::floating_point F>
    requires(C == Category::Float)
  constexpr operator F() const noexcept {
    return static_cast<F>(__builtin_bit_cast(double, Bits));
  }
  constexpr auto operator-() const noexcept
    requires(C == Category::Float)
  {
    return FixedNumber<C, Bits ^ std::uint64_t{1} << 63>();
  }
};
template <class A>
inline constexpr bool is_fixed_number = false;
template <Category C, std::uint64_t Bits>
inline constexpr bool is_fixed_number<FixedNumber<C, Bits>> = true;

template <class S>
concept real_scalar = std::is_arithmetic_v<S> || std::is_same_v<S, half> || std::is_same_v<S, bfloat16>;
template <class S>
inline constexpr bool is_complex_number = false;
template <class Part>
inline constexpr bool is_complex_number<std::complex<Part>> = std::is_arithmetic_v<Part>;
template <class S>
concept complex_scalar = is_complex_number<S>;
template <class S>
concept cpp_scalar = real_scalar<S> || complex_scalar<S>;
template <class S>
concept number = cpp_scalar<S> || is_fixed_number<S>;

template <class S>
inline constexpr Category category_of = std::is_same_v<S, bool> ? Category::Bool
                                        : std::is_integral_v<S> ? Category::Int
                                        : complex_scalar<S>     ? Category::Complex
                                                                : Category::Float;

[[noreturn]] void throw_past_int64(std::uint64_t value);

/// The bits of a number. Throws Error for an integer beyond int64.
template <real_scalar S>
constexpr jit::Scalar scalar_of(S value) {
  if constexpr (std::is_same_v<S, bool>) {
    return value;
  } else if constexpr (category_of<S> == Category::Float) {
    return static_cast<double>(value);
  } else {
    if constexpr (std::is_unsigned_v<S> && sizeof(S) == sizeof(std::int64_t))
      if (value > std::numeric_limits<std::int64_t>::max()) throw_past_int64(value);
    return static_cast<std::int64_t>(value);
  }
}

/// A number of any C++ type.
struct Number {
  jit::Scalar scalar;  // for a complex number the real part
  Category category;
  double imaginary = 0;

  template <real_scalar S>
  constexpr Number(S value) : scalar(scalar_of(value)), category(category_of<S>) {}
  template <complex_scalar S>
  constexpr Number(S value)
      : scalar(static_cast<double>(value.real())),
        category(Category::Complex),
        imaginary(static_cast<double>(value.imag())) {}
  template <integral_constant C>
  constexpr Number(const C&) : Number(static_cast<std::int64_t>(C::value)) {}
  template <Category C, std::uint64_t Bits>
  constexpr Number(FixedNumber<C, Bits>) : scalar(), category(C) {
    scalar.bits = Bits;
  }

  constexpr double real() const noexcept { return __builtin_bit_cast(double, scalar.bits); }
  constexpr std::int64_t whole() const noexcept { return static_cast<std::int64_t>(scalar.bits); }
};

[[noreturn]] void throw_does_not_fit(Number value, DType dtype);

/// Like static_cast; 16-bit floats are converted through float.
template <class T, class S>
constexpr T number_as(S value) {
  if constexpr (is_stored_only(dtype_of<T>) && category(dtype_of<T>) == Category::Float)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

/// Converts the number to an element; floats lose their fraction in an integer dtype. Throws Error if T cannot hold it.
template <complex_element T>
constexpr T element_of(Number n) {
  using Part = typename T::value_type;
  const bool whole = n.category < Category::Float;
  return T(whole ? static_cast<Part>(n.whole()) : static_cast<Part>(n.real()), static_cast<Part>(n.imaginary));
}
template <element T>
  requires(!complex_element<T>)
constexpr T element_of(Number n) {
  if (n.category == Category::Complex) throw_does_not_fit(n, dtype_of<T>);
  constexpr bool integer = category(dtype_of<T>) == Category::Int;
  if (n.category != Category::Float) {
    if constexpr (integer)
      if (!std::in_range<T>(n.whole())) throw_does_not_fit(n, dtype_of<T>);
    return number_as<T>(n.whole());
  }
  if constexpr (integer) {
    // Powers of two, which a double holds exactly; NaN fails both comparisons.
    constexpr auto least = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double end = 2 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
    if (!((n.real() >= least || n.real() > least - 1) && n.real() < end)) throw_does_not_fit(n, dtype_of<T>);
  }
  return number_as<T>(n.real());
}

}  // namespace sinter::inline v1::detail
