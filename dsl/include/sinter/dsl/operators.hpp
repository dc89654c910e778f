// The C++ operators. Written out rather than in a macro, whose errors print twice as many lines.
#pragma once
#include <iterator>

#include <sinter/dsl/apply.hpp>

namespace sinter::inline v1 {

namespace detail {

/// Two operands, at least one of them an expression, whose device types may be combined.
template <class A, class B>
concept operands =
    operand<A> && operand<B> && (expression<A> || expression<B>) && same_device<device_of<A>, device_of<B>>;

template <class A, class B>
  requires operands<A, B>
auto operator+(A&& a, B&& b) {
  return apply<Op::add>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator-(A&& a, B&& b) {
  return apply<Op::sub>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator*(A&& a, B&& b) {
  return apply<Op::mul>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator/(A&& a, B&& b) {
  return apply<Op::div>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator%(A&& a, B&& b) {
  return apply<Op::remainder>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator&(A&& a, B&& b) {
  return apply<Op::bitwise_and>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator|(A&& a, B&& b) {
  return apply<Op::bitwise_or>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator^(A&& a, B&& b) {
  return apply<Op::bitwise_xor>(std::forward<A>(a), std::forward<B>(b));
}
// Does not apply to streams: neither operand of << is one.
template <class A, class B>
  requires operands<A, B>
auto operator<<(A&& a, B&& b) {
  return apply<Op::bitwise_left_shift>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator>>(A&& a, B&& b) {
  return apply<Op::bitwise_right_shift>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator==(A&& a, B&& b) {
  return apply<Op::eq>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator!=(A&& a, B&& b) {
  return apply<Op::ne>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator<(A&& a, B&& b) {
  return apply<Op::lt>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator<=(A&& a, B&& b) {
  return apply<Op::le>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator>(A&& a, B&& b) {
  return apply<Op::gt>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires operands<A, B>
auto operator>=(A&& a, B&& b) {
  return apply<Op::ge>(std::forward<A>(a), std::forward<B>(b));
}

template <expression A>
auto operator+(A&& a) {
  return apply<Op::positive>(std::forward<A>(a));
}
template <expression A>
auto operator-(A&& a) {
  return apply<Op::neg>(std::forward<A>(a));
}
template <expression A>
auto operator!(A&& a) {
  return apply<Op::logical_not>(std::forward<A>(a));
}
template <expression A>
auto operator~(A&& a) {
  return apply<Op::bitwise_not>(std::forward<A>(a));
}

// Vectors, arrays and strings are no operands. Other types may have operators of their own.
template <class A>
concept container = !expression<A> && requires(const A& a) {
  std::begin(a);
  std::end(a);
};
template <class A, class B>
concept with_container = (expression<A> && container<B>) || (container<A> && expression<B>);

template <class A, class B>
  requires with_container<A, B>
ErrorExpression operator+(const A&, const B&) {
  static_assert(!std::is_same_v<A, A>, SINTER_NO_OPERAND);
  return ErrorExpression();
}
template <class A, class B>
  requires with_container<A, B>
ErrorExpression operator-(const A&, const B&) {
  static_assert(!std::is_same_v<A, A>, SINTER_NO_OPERAND);
  return ErrorExpression();
}
template <class A, class B>
  requires with_container<A, B>
ErrorExpression operator*(const A&, const B&) {
  static_assert(!std::is_same_v<A, A>, SINTER_NO_OPERAND);
  return ErrorExpression();
}
template <class A, class B>
  requires with_container<A, B>
ErrorExpression operator/(const A&, const B&) {
  static_assert(!std::is_same_v<A, A>, SINTER_NO_OPERAND);
  return ErrorExpression();
}

// Operands on different devices: only the devices are deduced, so the error message stays short.
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator+(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator-(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator*(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator/(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator%(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator&(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator|(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator^(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator<<(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator>>(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator==(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator!=(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator<(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator<=(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator>(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}
template <class L, class R>
  requires different_devices<L, R>
ErrorExpression operator>=(const On<L>&, const On<R>&) {
  static_assert(same_device<L, R>, SINTER_DIFFERENT_DEVICES);
  return ErrorExpression();
}

}  // namespace detail
}  // namespace sinter::inline v1
