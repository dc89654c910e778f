#include "combine.hpp"

#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>
#include <limits>

#include <sinter/runtime/float_environment.hpp>
#include "../bools.hpp"
#include "../parallel.hpp"

namespace sinter::inline v1::runtime {
namespace {

template <class T>
constexpr bool is_complex_v = is_complex(dtype_of<T>);

/// The canonical NaN, so that the result does not depend on the order of operands.
template <class T>
T canonical(T x) {
  if constexpr (is_complex_v<T>)
    return T(canonical(x.real()), canonical(x.imag()));
  else
    return x == x ? x : std::numeric_limits<T>::quiet_NaN();
}

template <class T>
T sum(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return canonical(a + b);
}

template <class T>
T product(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a && b;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return canonical(a * b);
}

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// +0 is larger than -0. Branch-free, so that the compiler vectorizes it.
template <class T>
T maximum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return std::max(a, b);
  } else {
    const T equal = std::bit_cast<T>(std::bit_cast<Bits<T>>(a) & std::bit_cast<Bits<T>>(b));
    const T larger = a > b ? a : b;
    return canonical(a != a ? a : a == b ? equal : b != b ? b : larger);
  }
}

template <class T>
T minimum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return std::min(a, b);
  } else {
    const T equal = std::bit_cast<T>(std::bit_cast<Bits<T>>(a) | std::bit_cast<Bits<T>>(b));
    const T smaller = a < b ? a : b;
    return canonical(a != a ? a : a == b ? equal : b != b ? b : smaller);
  }
}

/// Calls f with the reduction's binary operator.
template <class T, class F>
void with_operation(ReduceOp how, F f) {
  if (how == ReduceOp::Sum) return f([](T a, T b) { return sum(a, b); });
  if constexpr (!is_complex_v<T>) {
    if (how == ReduceOp::Product) return f([](T a, T b) { return product(a, b); });
    if (how == ReduceOp::Maximum) return f([](T a, T b) { return maximum(a, b); });
    return f([](T a, T b) { return minimum(a, b); });
  }
}

constexpr std::int64_t part_size = 1 << 15;  // elements: several such parts of float32 fit into a core's cache

/// Calls f(first, last) for ranges of all elements, on several threads if there are many.
template <class F>
void in_parts(std::int64_t count, F f) {
  parallel_for_erased((count + part_size - 1) / part_size, [&](std::int64_t part) {
    const DefaultFloatEnvironment as_everywhere;
    f(part * part_size, std::min(count, (part + 1) * part_size));
  });
}

template <class T, class Wide>
void combine_as(ReduceOp how, std::byte* to, std::span<const std::byte* const> from, std::int64_t count) {
  const auto element = [&](std::size_t array, std::int64_t i) {
    return static_cast<Wide>(element_at(reinterpret_cast<const T*>(from[array]) + i));
  };
  Wide* const result = reinterpret_cast<Wide*>(to);
  with_operation<Wide>(how, [&](auto operation) {
    in_parts(count, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) result[i] = element(0, i);
      for (std::size_t array = 1; array < from.size(); ++array)
        for (std::int64_t i = first; i < last; ++i) result[i] = operation(result[i], element(array, i));
    });
  });
}

}  // namespace

void combine(DType dtype, ReduceOp how, std::byte* to, std::span<const std::byte* const> from, std::int64_t count) {
  visit(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
      combine_as<T, float>(how, to, from, count);
    else
      combine_as<T, T>(how, to, from, count);
  });
}

void narrow(DType dtype, std::byte* to, const std::byte* from, std::int64_t count) {
  visit(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
      // In order: results never overwrite elements still to be read.
      for (std::int64_t i = 0; i < count; ++i) {
        float value;
        std::memcpy(&value, from + i * 4, sizeof(value));
        const T rounded(value);
        std::memcpy(to + i * 2, &rounded, sizeof(rounded));
      }
    } else if (to != from) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
    }
  });
}

}  // namespace sinter::inline v1::runtime
