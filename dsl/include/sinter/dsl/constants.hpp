// Compile-time integers from Boost.Hana: pow(x, 2_c), x * 3_c.
#pragma once
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/negate.hpp>

#include <sinter/dsl/functions.hpp>

namespace sinter::inline v1 {

/// `using namespace sinter::literals;` makes 2_c available.
namespace literals {
using boost::hana::literals::operator""_c;
}

namespace detail {

// Hana defines its constants' operators for any operand; these are more specialized and so are chosen for tensors.
#define SINTER_CONSTANT_OPERATOR(symbol, name)                          \
  template <expression A, class T, T v>                                 \
  auto operator symbol(A&& a, boost::hana::integral_constant<T, v> b) { \
    return Function<Op::name>{}(std::forward<A>(a), b);                 \
  }                                                                     \
  template <class T, T v, expression B>                                 \
  auto operator symbol(boost::hana::integral_constant<T, v> a, B&& b) { \
    return Function<Op::name>{}(a, std::forward<B>(b));                 \
  }
SINTER_CONSTANT_OPERATOR(+, add)
SINTER_CONSTANT_OPERATOR(-, sub)
SINTER_CONSTANT_OPERATOR(*, mul)
SINTER_CONSTANT_OPERATOR(/, div)
SINTER_CONSTANT_OPERATOR(%, remainder)
SINTER_CONSTANT_OPERATOR(&, bitwise_and)
SINTER_CONSTANT_OPERATOR(|, bitwise_or)
SINTER_CONSTANT_OPERATOR(^, bitwise_xor)
SINTER_CONSTANT_OPERATOR(<<, bitwise_left_shift)
SINTER_CONSTANT_OPERATOR(>>, bitwise_right_shift)
SINTER_CONSTANT_OPERATOR(==, eq)
SINTER_CONSTANT_OPERATOR(!=, ne)
SINTER_CONSTANT_OPERATOR(<, lt)
SINTER_CONSTANT_OPERATOR(<=, le)
SINTER_CONSTANT_OPERATOR(>, gt)
SINTER_CONSTANT_OPERATOR(>=, ge)
#undef SINTER_CONSTANT_OPERATOR

}  // namespace detail
}  // namespace sinter::inline v1
