// Writing into a tensor's array: assign, copy_, +=, masked_fill_.
#pragma once
#include <utility>

#include <sinter/dsl/array.hpp>
#include <sinter/dsl/functions.hpp>
#include <sinter/dsl/indexing_methods.hpp>

namespace sinter::inline v1::detail {

/// Whether an operand (a number or an expression) may be written to elements of T, as far as complex numbers matter.
template <class A, class T>
inline constexpr bool may_become =
    !loses_imaginary<typename lifted<A>::value_type, T> &&
    !(std::is_same_v<typename lifted<A>::value_type, Weak<Category::Complex>> && element<T> && !complex_element<T>);
#define SINTER_LOST_WRITE                                                                                              \
  "x[mask] is a new tensor, and writing to it is lost: write to x with x.masked_fill_(mask, value), or with x.assign(" \
  "where(mask, x + y, x))"

/// In-place operations. They throw ShapeError, DeviceError and DTypeError before anything is written.
template <class Self>
class InPlace {
 public:
  /// Writes the value into this array, broadcasting it; everything is read before anything is written. An expression
  /// must have the same dtype. A number is converted, and so is any value for an AnyTensor, unless its category is
  /// higher. Throws ShapeError, DeviceError, DTypeError, and Error for a number that the dtype cannot hold.
  template <class A>
    requires operand<A>
  Self& assign(A&& value) {
    static_assert(may_become<A, typename Self::value_type>, SINTER_LOSES_IMAGINARY);
    if constexpr (!expression<A>) {
      fill(self().impl(), value);
    } else {
      static_assert(same_dtype<value_type_of<A>, typename Self::value_type>,
                    "the value has another dtype: convert it with cast<T>(x)");
      write(std::forward<A>(value));
    }
    return self();
  }
  /// Copies from any device and any dtype, like PyTorch's copy_, but a complex value for a real tensor is an error.
  template <expression A>
  Self& copy_(A&& value) {
    static_assert(!loses_imaginary<value_type_of<A>, typename Self::value_type>, SINTER_LOSES_IMAGINARY);
    if constexpr (!is_error<A>) {
      const Tensor<value_type_of<A>, AnyDevice> from(std::forward<A>(value));
      jit::copy(self().impl(), from.impl());
    }
    return self();
  }

  // In place: the result is converted to this tensor's dtype, whose category must not be lower (DTypeError).
  template <class A>
    requires operand<A>
  Self& operator+=(A&& value) {
    static_assert(may_become<A, typename Self::value_type>, SINTER_LOSES_IMAGINARY);
    return write(self() + std::forward<A>(value));
  }
  template <class A>
    requires operand<A>
  Self& operator-=(A&& value) {
    static_assert(may_become<A, typename Self::value_type>, SINTER_LOSES_IMAGINARY);
    return write(self() - std::forward<A>(value));
  }
  template <class A>
    requires operand<A>
  Self& operator*=(A&& value) {
    static_assert(may_become<A, typename Self::value_type>, SINTER_LOSES_IMAGINARY);
    return write(self() * std::forward<A>(value));
  }
  template <class A>
    requires operand<A>
  Self& operator/=(A&& value) {
    static_assert(may_become<A, typename Self::value_type>, SINTER_LOSES_IMAGINARY);
    return write(self() / std::forward<A>(value));
  }
  template <class A>
    requires operand<A>
  Self& operator%=(A&& value) {
    static_assert(may_become<A, typename Self::value_type>, SINTER_LOSES_IMAGINARY);
    return write(self() % std::forward<A>(value));
  }
  template <class A>
    requires operand<A>
  Self& operator&=(A&& value) {
    static_assert(may_become<A, typename Self::value_type>, SINTER_LOSES_IMAGINARY);
    return write(self() & std::forward<A>(value));
  }
  template <class A>
    requires operand<A>
  Self& operator|=(A&& value) {
    static_assert(may_become<A, typename Self::value_type>, SINTER_LOSES_IMAGINARY);
    return write(self() | std::forward<A>(value));
  }
  template <class A>
    requires operand<A>
  Self& operator^=(A&& value) {
    static_assert(may_become<A, typename Self::value_type>, SINTER_LOSES_IMAGINARY);
    return write(self() ^ std::forward<A>(value));
  }
  template <class A>
    requires operand<A>
  Self& operator<<=(A&& value) {
    static_assert(may_become<A, typename Self::value_type>, SINTER_LOSES_IMAGINARY);
    return write(self() << std::forward<A>(value));
  }
  template <class A>
    requires operand<A>
  Self& operator>>=(A&& value) {
    static_assert(may_become<A, typename Self::value_type>, SINTER_LOSES_IMAGINARY);
    return write(self() >> std::forward<A>(value));
  }

  /// Writes the value where a mask, broadcast to this shape, is true. The value's category must not be higher. Throws
  /// ShapeError, DeviceError, DTypeError, and Error for a number that the dtype cannot hold.
  template <expression M, class A>
    requires operand<A>
  Self& masked_fill_(const M& mask, const A& value) {
    static_assert(std::is_same_v<value_type_of<M>, bool> || !element<value_type_of<M>>, SINTER_NO_MASK);
    static_assert(may_become<A, typename Self::value_type>, SINTER_LOSES_IMAGINARY);
    if constexpr (!expression<A>) check_number("masked_fill_", self().impl(), value);
    try {
      return write(sinter::where(mask, value, self()));
    } catch (const Error&) {
      rethrow_fill(self().impl(), mask.shape(), shape_of_value(value));
    }
  }

  // x[mask] returns a const tensor.
  template <class A>
  void operator+=(A&&) const&& {
    static_assert(!std::is_same_v<A, A>, SINTER_LOST_WRITE);
  }
  template <class A>
  void operator-=(A&&) const&& {
    static_assert(!std::is_same_v<A, A>, SINTER_LOST_WRITE);
  }
  template <class A>
  void operator*=(A&&) const&& {
    static_assert(!std::is_same_v<A, A>, SINTER_LOST_WRITE);
  }
  template <class A>
  void operator/=(A&&) const&& {
    static_assert(!std::is_same_v<A, A>, SINTER_LOST_WRITE);
  }
  template <class A>
  void operator%=(A&&) const&& {
    static_assert(!std::is_same_v<A, A>, SINTER_LOST_WRITE);
  }
  template <class A>
  void operator&=(A&&) const&& {
    static_assert(!std::is_same_v<A, A>, SINTER_LOST_WRITE);
  }
  template <class A>
  void operator|=(A&&) const&& {
    static_assert(!std::is_same_v<A, A>, SINTER_LOST_WRITE);
  }
  template <class A>
  void operator^=(A&&) const&& {
    static_assert(!std::is_same_v<A, A>, SINTER_LOST_WRITE);
  }
  template <class A>
  void operator<<=(A&&) const&& {
    static_assert(!std::is_same_v<A, A>, SINTER_LOST_WRITE);
  }
  template <class A>
  void operator>>=(A&&) const&& {
    static_assert(!std::is_same_v<A, A>, SINTER_LOST_WRITE);
  }

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }
  template <class A>
  Self& write(A&& value) {
    if constexpr (!is_error<A>) {
      static_assert(fits_into<extents_of<A>, extents_of<Self>>, SINTER_OTHER_EXTENTS);
      static_assert(same_device<typename std::remove_cvref_t<A>::device_type, typename Self::device_type>,
                    SINTER_DIFFERENT_DEVICES);
      runtime::TensorRef into = runtime::TensorRef::share(&self().impl());
      // Found by argument-dependent lookup: Lazy, whose header needs this one, has its own.
      auto&& e = lift(std::forward<A>(value));
      evaluate_into(e, into);
    }
    return self();
  }
};

}  // namespace sinter::inline v1::detail
