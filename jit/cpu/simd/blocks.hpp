// Values of compiled loops: a block has as many elements as four vectors have floats, whatever their dtype, so that
// four chains of dependent operations overlap. Elements of 8 bytes take eight vectors; bools are masks of floats;
// dtypes that are only stored keep their size.
#pragma once
#include "conversions.hpp"
#include "vector_basic.hpp"
#include "vector_float.hpp"
#include "vector_integer.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

inline constexpr int block_elements = 4 * Vec<float>::lanes;

template <class T>
inline constexpr bool is_computed = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                    std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;
/// Vectors of a block.
template <class T>
inline constexpr int parts = block_elements * static_cast<int>(sizeof(T)) / vector_bytes;
inline constexpr int mask_parts = parts<float>;
/// An integer of the element's size.
template <class T>
using Raw = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

using Float16Part __attribute__((vector_size(vector_bytes / 2))) = std::uint16_t;

template <class T>
struct Block {
  static_assert(is_computed<T>);
  using element = T;
  Vec<T> v[parts<T>];
};
template <>
struct Block<bool> {
  using element = bool;
  Mask<float> v[mask_parts];
};
template <class T>
  requires(!is_computed<T> && !is_half<T>)
struct Block<T> {
  using element = T;
  typename NativeVector<Raw<T>>::type whole[parts<T>];
};
/// As many elements in each part as a vector has floats: larger parts would go through memory at each conversion.
template <class T>
  requires(is_half<T>)
struct Block<T> {
  using element = T;
  Float16Part v[parts<float>];
};

/// All elements of a block, or the first ones.
struct Whole {};
struct First {
  int count;
};

template <class T>
SINTER_INLINE int count_of_part(First first, int part) {
  const int count = first.count - part * Vec<T>::lanes;
  return count < 0 ? 0 : count < Vec<T>::lanes ? count : Vec<T>::lanes;
}

/// Elements i, i + 1, ... of an array.
template <class T, class Range>
SINTER_INLINE Block<T> load(const void* array, std::int64_t i, Range range) {
  Block<T> b;
  if constexpr (std::is_same_v<T, bool>) {
    const auto* p = static_cast<const std::uint8_t*>(array) + i;
    for (int k = 0; k < mask_parts; ++k, p += Mask<float>::lanes)
      if constexpr (std::is_same_v<Range, Whole>)
        b.v[k] = Mask<float>::load(p);
      else
        b.v[k] = Mask<float>::load(p, count_of_part<float>(range, k));
  } else if constexpr (is_computed<T>) {
    const T* p = static_cast<const T*>(array) + i;
    for (int k = 0; k < parts<T>; ++k, p += Vec<T>::lanes)
      if constexpr (std::is_same_v<Range, Whole>)
        b.v[k] = Vec<T>::load(p);
      else
        b.v[k] = Vec<T>::load(p, count_of_part<T>(range, k));
  } else if constexpr (is_half<T>) {
    const T* p = static_cast<const T*>(array) + i;
    for (int k = 0; k < parts<float>; ++k, p += Vec<float>::lanes) {
      b.v[k] = Float16Part{};
      if constexpr (std::is_same_v<Range, Whole>)
        __builtin_memcpy(&b.v[k], p, sizeof b.v[k]);
      else
        copy_bytes(&b.v[k], p, count_of_part<float>(range, k) * static_cast<int>(sizeof(T)));
    }
  } else {
    const auto* p = static_cast<const Raw<T>*>(array) + i;
    for (int k = 0; k < parts<T>; ++k) b.whole[k] = typename NativeVector<Raw<T>>::type{};
    if constexpr (std::is_same_v<Range, Whole>)
      __builtin_memcpy(&b.whole, p, block_elements * sizeof(T));
    else
      copy_bytes(&b.whole, p, range.count * static_cast<int>(sizeof(T)));
  }
  return b;
}
template <class T, class Range>
SINTER_INLINE void store(void* array, std::int64_t i, Range range, const Block<T>& b) {
  if constexpr (std::is_same_v<T, bool>) {
    auto* p = static_cast<std::uint8_t*>(array) + i;
    for (int k = 0; k < mask_parts; ++k, p += Mask<float>::lanes)
      if constexpr (std::is_same_v<Range, Whole>)
        b.v[k].store(p);
      else
        b.v[k].store(p, count_of_part<float>(range, k));
  } else if constexpr (is_computed<T>) {
    T* p = static_cast<T*>(array) + i;
    for (int k = 0; k < parts<T>; ++k, p += Vec<T>::lanes)
      if constexpr (std::is_same_v<Range, Whole>)
        b.v[k].store(p);
      else
        b.v[k].store(p, count_of_part<T>(range, k));
  } else if constexpr (is_half<T>) {
    T* p = static_cast<T*>(array) + i;
    for (int k = 0; k < parts<float>; ++k, p += Vec<float>::lanes)
      if constexpr (std::is_same_v<Range, Whole>)
        __builtin_memcpy(p, &b.v[k], sizeof b.v[k]);
      else
        copy_bytes(p, &b.v[k], count_of_part<float>(range, k) * static_cast<int>(sizeof(T)));
  } else {
    auto* p = static_cast<Raw<T>*>(array) + i;
    if constexpr (std::is_same_v<Range, Whole>)
      __builtin_memcpy(p, &b.whole, block_elements * sizeof(T));
    else
      copy_bytes(p, &b.whole, range.count * static_cast<int>(sizeof(T)));
  }
}
/// One element for all.
template <class T>
SINTER_INLINE Block<T> broadcast(const void* element) {
  Block<T> b;
  if constexpr (std::is_same_v<T, bool>) {
    for (int k = 0; k < mask_parts; ++k) b.v[k] = Mask<float>::broadcast(static_cast<const std::uint8_t*>(element));
  } else if constexpr (is_computed<T>) {
    for (int k = 0; k < parts<T>; ++k) b.v[k] = Vec<T>::broadcast(static_cast<const T*>(element));
  } else {
    Raw<T> raw;
    __builtin_memcpy(&raw, element, sizeof raw);
    if constexpr (is_half<T>)
      for (int k = 0; k < parts<float>; ++k) b.v[k] = Float16Part{} + raw;
    else
      for (int k = 0; k < parts<T>; ++k) b.whole[k] = typename NativeVector<Raw<T>>::type{} + raw;
  }
  return b;
}

using HalfWidthInts __attribute__((vector_size(vector_bytes / 2))) = std::int32_t;

/// Part k of a mask as one of the operation's element size.
template <class T>
SINTER_INLINE Mask<T> mask_part(const Block<bool>& b, int k) {
  if constexpr (sizeof(T) == 4) {
    return {b.v[k].v};
  } else {
    HalfWidthInts half;
    __builtin_memcpy(&half, reinterpret_cast<const char*>(&b.v[k / 2].v) + k % 2 * (vector_bytes / 2), sizeof half);
    return {__builtin_convertvector(half, NativeMask<T>)};
  }
}
template <class T>
SINTER_INLINE void set_mask_part(Block<bool>& b, int k, Mask<T> m) {
  if constexpr (sizeof(T) == 4) {
    b.v[k].v = m.v;
  } else {
    const HalfWidthInts half = __builtin_convertvector(m.v, HalfWidthInts);
    __builtin_memcpy(reinterpret_cast<char*>(&b.v[k / 2].v) + k % 2 * (vector_bytes / 2), &half, sizeof half);
  }
}
template <class T, class U>
SINTER_INLINE auto part_of(const Block<U>& b, int k) {
  if constexpr (!std::is_same_v<U, bool> || std::is_same_v<T, bool>)
    return b.v[k];
  else
    return mask_part<T>(b, k);
}

/// An operation that computes in T.
template <class F, class T, class A, class B, class C>
SINTER_INLINE auto apply(const A& a, const B& b, const C& c) {
  using V = std::conditional_t<std::is_same_v<T, bool>, Mask<float>, Vec<T>>;
  using R = decltype(F::template apply<V>(part_of<T>(a, 0), part_of<T>(b, 0), part_of<T>(c, 0)));
  if constexpr (std::is_same_v<T, bool>) {
    Block<bool> r;
    for (int k = 0; k < mask_parts; ++k) r.v[k] = F::template apply<V>(a.v[k], b.v[k], c.v[k]);
    return r;
  } else if constexpr (std::is_same_v<R, Vec<T>>) {
    Block<T> r;
    for (int k = 0; k < parts<T>; ++k)
      r.v[k] = F::template apply<V>(part_of<T>(a, k), part_of<T>(b, k), part_of<T>(c, k));
    return r;
  } else {
    Block<bool> r;
    for (int k = 0; k < parts<T>; ++k)
      set_mask_part<T>(r, k, F::template apply<V>(part_of<T>(a, k), part_of<T>(b, k), part_of<T>(c, k)));
    return r;
  }
}

/// A block's elements one by one.
template <class To, class From>
SINTER_INLINE Block<To> converted_one_by_one(const Block<From>& b) {
  Stored<From> from[block_elements];
  Stored<To> to[block_elements];
  __builtin_memcpy(from, &b, sizeof from);
  for (int i = 0; i < block_elements; ++i) to[i] = converted<To, From>(from[i]);
  Block<To> r{};
  __builtin_memcpy(&r, to, sizeof to);
  return r;
}
/// A conversion to another dtype; the pairs of has_conversion() in compute_dtypes.hpp.
template <class To, class From>
SINTER_INLINE Block<To> cast(const Block<From>& b) {
  if constexpr (std::is_same_v<From, bool>) {
    if constexpr (is_computed<To>) {
      Block<To> r;
      for (int k = 0; k < parts<To>; ++k) r.v[k] = select(mask_part<To>(b, k), Vec<To>(1), Vec<To>(0));
      return r;
    } else {
      return cast<To>(cast<std::int32_t>(b));
    }
  } else if constexpr (std::is_same_v<To, bool>) {
    if constexpr (is_computed<From>) {
      Block<bool> r;
      for (int k = 0; k < parts<From>; ++k) set_mask_part<From>(r, k, b.v[k] != Vec<From>(0));
      return r;
    } else {
      return cast<bool>(cast<std::int32_t>(b));
    }
  } else if constexpr (is_half<From>) {
    static_assert(std::is_same_v<To, float>);
    Block<float> r;
    for (int k = 0; k < parts<float>; ++k) r.v[k] = load_wide(reinterpret_cast<const From*>(&b.v[k]));
    return r;
  } else if constexpr (is_half<To>) {
    static_assert(std::is_same_v<From, float>);
    Block<To> r;
    for (int k = 0; k < parts<float>; ++k) store_narrow(reinterpret_cast<To*>(&r.v[k]), b.v[k].v);
    return r;
  } else if constexpr (std::is_same_v<From, std::int32_t> && std::is_same_v<To, float>) {
    Block<float> r;
    for (int k = 0; k < parts<float>; ++k) r.v[k] = __builtin_convertvector(b.v[k].v, Native<float>);
    return r;
  } else {
    return converted_one_by_one<To>(b);
  }
}

/// Calls body(i, range) for all blocks of n elements.
template <class F>
SINTER_INLINE void for_each_block(std::int64_t n, F body) {
  std::int64_t i = 0;
  for (; i + block_elements <= n; i += block_elements) body(i, Whole{});
  if (i < n) body(i, First{static_cast<int>(n - i)});
  clear_upper_halves();
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
