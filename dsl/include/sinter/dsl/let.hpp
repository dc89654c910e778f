// let: names a part that an expression uses several times, so that its type holds the part once.
#pragma once
#include <sinter/dsl/tensor.hpp>

namespace sinter::inline v1 {

namespace detail {

template <class Body, class Value>
struct LetName;

}  // namespace detail

/// body(v), where v is `value`: let(x - mean, [](auto d) { return d * d; }). `value` is computed once, and its
/// tree occurs once in the expression's type, however often v is used.
template <expression E, class F>
auto let(E&& value, F&& body) {
  using V = detail::lifted<E>;
  if constexpr (detail::is_lazy<V>) {
    return std::forward<F>(body)(value);
  } else {
    using Name = detail::LetName<std::remove_cvref_t<F>, typename V::tree>;
    using Placeholder = Expression<typename V::value_type, typename V::device_type, detail::Reference<Name>, 0, 0,
                                   detail::reference_bytes>;
    auto v = detail::lift(std::forward<E>(value));
    Placeholder name;  // an lvalue, so that auto& accepts it too
    auto b = detail::lift(std::forward<F>(body)(name));
    using B = decltype(b);
    if constexpr (detail::is_lazy<B>) {
      static_assert(!detail::is_lazy<B>,
                    "the body of let returns a Lazy: make the value a Lazy as well, which computes equal parts once");
    } else {
      using Result =
          Expression<typename B::value_type, detail::common_device<typename V::device_type, typename B::device_type>,
                     detail::Let<Name, typename V::tree, typename B::tree>, V::leaf_count + B::leaf_count,
                     V::scalar_count + B::scalar_count, V::byte_count + B::byte_count + detail::let_bytes>;
      return Result(detail::FromOperands{}, v, b);
    }
  }
}

}  // namespace sinter::inline v1
