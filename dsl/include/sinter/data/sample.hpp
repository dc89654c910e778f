// One sample of a dataset: a tensor, or a tuple, a pair or a struct of tensors. A batch of samples has the same type,
// with one more first axis.
#pragma once
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/dsl/join.hpp>
#include <sinter/dsl/tensor.hpp>

namespace sinter::inline v1 {

namespace detail {

template <class S>
inline constexpr bool is_tensor_type = false;
template <class T, class D>
inline constexpr bool is_tensor_type<Tensor<T, D>> = true;

/// Converts to a member of any type, in unevaluated code only.
struct AnyMember {
  template <class T>
  operator T() const;
};
constexpr std::size_t most_members = 6;
/// The number of members that braces can initialize in a struct.
template <class S, class... Given>
consteval std::size_t member_count() {
  if constexpr (sizeof...(Given) <= most_members && requires { S{Given{}..., AnyMember{}}; })
    return member_count<S, Given..., AnyMember>();
  else
    return sizeof...(Given);
}
template <class S>
inline constexpr bool is_tuple = requires { std::tuple_size<S>::value; };

/// References to the parts; an empty tuple for a type without parts.
template <class S>
auto parts_of_sample(const S& s) {
  if constexpr (is_tensor_type<S>) {
    return std::tie(s);
  } else if constexpr (is_tuple<S>) {
    return std::apply([](const auto&... parts) { return std::tie(parts...); }, s);
  } else if constexpr (!std::is_aggregate_v<S> || std::is_array_v<S>) {
    return std::tuple<>();
  } else {
    constexpr std::size_t count = member_count<S>();
    if constexpr (count == 1) {
      const auto& [a] = s;
      return std::tie(a);
    } else if constexpr (count == 2) {
      const auto& [a, b] = s;
      return std::tie(a, b);
    } else if constexpr (count == 3) {
      const auto& [a, b, c] = s;
      return std::tie(a, b, c);
    } else if constexpr (count == 4) {
      const auto& [a, b, c, d] = s;
      return std::tie(a, b, c, d);
    } else if constexpr (count == 5) {
      const auto& [a, b, c, d, e] = s;
      return std::tie(a, b, c, d, e);
    } else if constexpr (count == most_members) {
      const auto& [a, b, c, d, e, f] = s;
      return std::tie(a, b, c, d, e, f);
    } else {
      return std::tuple<>();
    }
  }
}
template <class S>
using sample_parts = decltype(parts_of_sample(std::declval<const S&>()));

template <class Parts>
inline constexpr bool are_tensors = false;
template <class First, class... Parts>
inline constexpr bool are_tensors<std::tuple<First, Parts...>> =
    is_tensor_type<std::remove_cvref_t<First>> && (is_tensor_type<std::remove_cvref_t<Parts>> && ...);

/// A sample of the same type made from f(part number, part).
template <class S, class F>
S sample_from(const S& s, F f) {
  const auto parts = parts_of_sample(s);
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return S{f(std::integral_constant<std::size_t, i>(), std::get<i>(parts))...};
  }(std::make_index_sequence<std::tuple_size_v<sample_parts<S>>>());
}

}  // namespace detail

/// A tensor; a tuple, a pair or an array of tensors; a struct of up to six.
template <class S>
concept sample = detail::are_tensors<detail::sample_parts<S>>;

/// Stacks the samples along a new first axis. There must be at least one. Throws ShapeError if shapes differ,
/// DeviceError.
template <sample S>
S stack_samples(std::span<const S> samples) {
  return detail::sample_from(samples[0], [&](auto number, const auto& first) {
    std::vector<std::remove_cvref_t<decltype(first)>> parts;
    parts.reserve(samples.size());
    for (const S& s : samples) parts.push_back(std::get<number()>(detail::parts_of_sample(s)));
    return stack(parts);
  });
}

}  // namespace sinter::inline v1
