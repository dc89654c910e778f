// One sample of a dataset: a tensor, or a tuple, a pair or a struct of tensors. A batch of samples has the same type,
// with one more first axis. A struct lists its tensors for Boost.Hana:
//
//   struct Sample {
//     BOOST_HANA_DEFINE_STRUCT(Sample, (sinter::Tensor<float>, image), (sinter::Tensor<std::int64_t>, label));
//   };
#pragma once
#include <boost/hana/accessors.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/unpack.hpp>
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

template <class S>
inline constexpr bool is_tuple = requires { std::tuple_size<S>::value; };

/// References to the parts; an empty tuple for a type without parts.
template <class S>
auto parts_of_sample(const S& s) {
  if constexpr (is_tensor_type<S>)
    return std::tie(s);
  else if constexpr (is_tuple<S>)
    return std::apply([](const auto&... parts) { return std::tie(parts...); }, s);
  else if constexpr (boost::hana::Struct<S>::value)
    return boost::hana::unpack(boost::hana::accessors<S>(),
                               [&](auto... named) { return std::tie(boost::hana::second(named)(s)...); });
  else
    return std::tuple<>();
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

/// A tensor; a tuple, a pair or an array of tensors; a struct that lists its tensors by BOOST_HANA_DEFINE_STRUCT.
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
