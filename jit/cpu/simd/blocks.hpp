// Values of compiled loops: a block has as many elements as `width` vectors have floats, whatever their dtype. Loops
// compute four vectors at a time, so that as many chains of dependent operations overlap, and the rest of a row vector
// by vector. What is the same for all elements is a block of one. Elements of 8 bytes take twice as many vectors; bools
// are masks of floats; dtypes that are only stored keep their size.
#pragma once
#include "conversions.hpp"
#include "vector_basic.hpp"
#include "vector_float.hpp"
#include "vector_integer.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

template <class T>
inline constexpr bool is_computed = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                    std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;
template <int width>
inline constexpr int elements = width * Vec<float>::lanes;
/// Vectors of a block.
template <class T, int width>
inline constexpr int parts = elements<width> * static_cast<int>(sizeof(T)) / vector_bytes;
template <class T>
using StoredElement = std::conditional_t<is_half<T>, std::uint16_t, T>;
/// A part of a block whose dtype is only stored. It has as many elements as a vector has floats: larger parts would go
/// through memory at each conversion.
template <class T>
struct StoredPart {
  typedef StoredElement<T> type __attribute__((vector_size(elements<1> * sizeof(T))));
};

template <class T, int w>
struct Block {
  static_assert(is_computed<T>);
  static constexpr int width = w;
  Vec<T> v[parts<T, w>];
};
template <int w>
struct Block<bool, w> {
  static constexpr int width = w;
  Mask<float> v[w];
};
template <class T, int w>
  requires(!is_computed<T>)
struct Block<T, w> {
  static constexpr int width = w;
  typename StoredPart<T>::type v[w];
};

/// Elements of a block: four vectors, one, or the first elements of one. Only stores tell Streamed from Whole.
struct Whole {
  static constexpr int width = 4;
};
/// Four vectors whose result goes past the caches, to a multiple of a vector's size.
struct Streamed : Whole {};
template <class T>
inline constexpr bool can_stream =
    has_streams && !std::is_same_v<T, bool> && elements<1> * static_cast<int>(sizeof(T)) >= 16;
struct OneVector {
  static constexpr int width = 1;
};
struct First {
  static constexpr int width = 1;
  int count;
};

template <class T>
SINTER_INLINE int count_of_part(First first, int part) {
  if constexpr (parts<T, First::width> == 1) return first.count;
  const int count = first.count - part * Vec<T>::lanes;
  return count < 0 ? 0 : count < Vec<T>::lanes ? count : Vec<T>::lanes;
}

/// The first `count` elements, at least one, followed by zeros.
template <class T>
SINTER_INLINE void load_first_elements(Vec<T>& to, const T* p, int count) {
  to = count < Vec<T>::lanes ? Vec<T>::load(p, count) : Vec<T>::load(p);
}
template <class Part, class T>
SINTER_INLINE void load_first_elements(Part& to, const T* p, int count) {
  load_first_bytes(to, p, count * static_cast<int>(sizeof(T)));
}

/// Elements i, i + 1, ... of an array.
template <class T, class Range>
SINTER_INLINE Block<T, Range::width> load(const void* array, std::int64_t i, Range range) {
  constexpr int width = Range::width;
  Block<T, width> b;
  if constexpr (std::is_same_v<T, bool>) {
    const auto* p = static_cast<const std::uint8_t*>(array) + i;
    for (int k = 0; k < width; ++k, p += Mask<float>::lanes)
      if constexpr (!std::is_same_v<Range, First>)
        b.v[k] = Mask<float>::load(p);
      else
        b.v[k] = Mask<float>::load(p, range.count);
  } else if constexpr (is_computed<T>) {
    const T* p = static_cast<const T*>(array) + i;
    for (int k = 0; k < parts<T, width>; ++k, p += Vec<T>::lanes)
      if constexpr (!std::is_same_v<Range, First>)
        b.v[k] = Vec<T>::load(p);
      else
        b.v[k] = Vec<T>::load(p, count_of_part<T>(range, k));
  } else {
    const auto* p = static_cast<const T*>(array) + i;
    for (int k = 0; k < width; ++k, p += elements<1>)
      if constexpr (std::is_same_v<Range, First>)
        load_first_bytes(b.v[k], p, range.count * static_cast<int>(sizeof(T)));
      else
        __builtin_memcpy(&b.v[k], p, sizeof b.v[k]);
  }
  return b;
}
/// Elements 0, 2, ... of two vectors, of which the second begins with the first one's last element.
template <class V, int... i>
SINTER_INLINE V every_second(Lanes<i...>, V low, V high) {
  constexpr int n = sizeof...(i);
  return __builtin_shufflevector(low, high, (2 * i < n ? 2 * i : 2 * i + 1)...);
}
/// Elements 2 i, 2 i + 2, ... of an array. Nothing is read past the last one.
template <class T, class Range>
SINTER_INLINE Block<T, Range::width> load_every_second(const void* array, std::int64_t i, Range range) {
  constexpr int width = Range::width;
  Block<T, width> b;
  if constexpr (std::is_same_v<T, bool>) {
    const auto bytes = load_every_second<std::uint8_t>(array, i, range);
    for (int k = 0; k < width; ++k) b.v[k] = Mask<float>::load(reinterpret_cast<const std::uint8_t*>(&bytes.v[k]));
  } else {
    using V = std::remove_reference_t<decltype(b.v[0])>;
    constexpr int n = sizeof(V) / sizeof(T), count = sizeof b.v / sizeof(V);
    using Numbers = typename CountedTo<n>::type;
    const T* p = static_cast<const T*>(array) + 2 * i;
    for (int k = 0; k < count; ++k, p += 2 * n) {
      V low{}, high{};
      if constexpr (!std::is_same_v<Range, First>) {
        __builtin_memcpy(&low, p, sizeof low);
        __builtin_memcpy(&high, p + n - 1, sizeof high);
      } else {
        const int left = range.count - k * n, reach = left < n ? 2 * left - 1 : 2 * n - 1;  // elements in memory
        if (reach > 0) load_first_elements(low, p, reach < n ? reach : n);
        if (reach > n) load_first_elements(high, p + n - 1, reach - n + 1);
      }
      if constexpr (is_computed<T>)
        b.v[k] = {every_second(Numbers{}, low.v, high.v)};
      else
        b.v[k] = every_second(Numbers{}, low, high);
    }
  }
  return b;
}
/// Fetches elements that later loads read into the second level of the caches.
template <class T, class Range>
SINTER_INLINE void prefetch(const char* array, std::int64_t i, Range) {
  constexpr int size = sizeof(T), line = 64;
  for (int k = 0; k < elements<Range::width> * size; k += line) __builtin_prefetch(array + i * size + k, 0, 2);
}
template <class T, class Range>
SINTER_INLINE void store(void* array, std::int64_t i, Range range, const Block<T, Range::width>& b) {
  constexpr int width = Range::width;
  if constexpr (std::is_same_v<T, bool>) {
    auto* p = static_cast<std::uint8_t*>(array) + i;
    for (int k = 0; k < width; ++k, p += Mask<float>::lanes)
      if constexpr (!std::is_same_v<Range, First>)
        b.v[k].store(p);
      else
        b.v[k].store(p, range.count);
  } else if constexpr (is_computed<T>) {
    T* p = static_cast<T*>(array) + i;
    for (int k = 0; k < parts<T, width>; ++k, p += Vec<T>::lanes)
      if constexpr (std::is_same_v<Range, Streamed>)
        stream(p, b.v[k].v);
      else if constexpr (!std::is_same_v<Range, First>)
        b.v[k].store(p);
      else
        b.v[k].store(p, count_of_part<T>(range, k));
  } else {
    auto* p = static_cast<T*>(array) + i;
    for (int k = 0; k < width; ++k, p += elements<1>)
      if constexpr (std::is_same_v<Range, Streamed>)
        stream(p, b.v[k]);
      else if constexpr (std::is_same_v<Range, First>)
        store_first_bytes(p, b.v[k], range.count * static_cast<int>(sizeof(T)));
      else
        __builtin_memcpy(p, &b.v[k], sizeof b.v[k]);
  }
}
/// One element for all.
template <class T>
SINTER_INLINE Block<T, 1> broadcast(const void* element) {
  Block<T, 1> b;
  if constexpr (std::is_same_v<T, bool>) {
    b.v[0] = Mask<float>::broadcast(static_cast<const std::uint8_t*>(element));
  } else if constexpr (is_computed<T>) {
    for (int k = 0; k < parts<T, 1>; ++k) b.v[k] = Vec<T>::broadcast(static_cast<const T*>(element));
  } else {
    StoredElement<T> raw;
    __builtin_memcpy(&raw, element, sizeof raw);
    b.v[0] = typename StoredPart<T>::type{} + raw;
  }
  return b;
}

using HalfWidthInts __attribute__((vector_size(vector_bytes / 2))) = std::int32_t;
using HalfWidthFloats __attribute__((vector_size(vector_bytes / 2))) = float;

/// The lower half of a vector (k is 0), or the upper one (1).
template <class HalfVector, class V>
SINTER_INLINE HalfVector half_of(const V& v, int k) {
  HalfVector half;
  __builtin_memcpy(&half, reinterpret_cast<const char*>(&v) + k * (vector_bytes / 2), sizeof half);
  return half;
}
/// Part k of a mask as one of the operation's element size.
template <class T, int width>
SINTER_INLINE Mask<T> mask_part(const Block<bool, width>& b, int k) {
  if constexpr (sizeof(T) == 4)
    return {b.v[k].v};
  else
    return {__builtin_convertvector(half_of<HalfWidthInts>(b.v[k / 2].v, k % 2), NativeMask<T>)};
}
/// Joins the masks of_part(0), of_part(1), ... of elements T into a block.
template <int width, class T, class F>
SINTER_INLINE Block<bool, width> block_of_masks(F of_part) {
  Block<bool, width> b;
  for (int k = 0; k < width; ++k)
    if constexpr (sizeof(T) == 4)
      b.v[k].v = of_part(k).v;
    else
      b.v[k].v = joined<NativeMask<float>>(__builtin_convertvector(of_part(2 * k).v, HalfWidthInts),
                                           __builtin_convertvector(of_part(2 * k + 1).v, HalfWidthInts));
  return b;
}
/// Part k of a block, or of one that repeats.
template <class T, class U, int width>
SINTER_INLINE auto part_of(const Block<U, width>& b, int k) {
  if constexpr (!std::is_same_v<U, bool>)
    return b.v[k % parts<U, width>];
  else if constexpr (std::is_same_v<T, bool>)
    return b.v[k % width];
  else
    return mask_part<T>(b, k % parts<T, width>);
}

/// An operation that computes in T.
template <class F, class T, int p, int q, int r, class A, class B, class C>
SINTER_INLINE auto apply(const Block<A, p>& a, const Block<B, q>& b, const Block<C, r>& c) {
  constexpr int width = p > q && p > r ? p : q > r ? q : r;
  using V = std::conditional_t<std::is_same_v<T, bool>, Mask<float>, Vec<T>>;
  using R = decltype(F::template apply<V>(part_of<T>(a, 0), part_of<T>(b, 0), part_of<T>(c, 0)));
  if constexpr (std::is_same_v<T, bool>) {
    Block<bool, width> result;
    for (int k = 0; k < width; ++k)
      result.v[k] = F::template apply<V>(part_of<T>(a, k), part_of<T>(b, k), part_of<T>(c, k));
    return result;
  } else if constexpr (std::is_same_v<R, Vec<T>>) {
    Block<T, width> result;
    for (int k = 0; k < parts<T, width>; ++k)
      result.v[k] = F::template apply<V>(part_of<T>(a, k), part_of<T>(b, k), part_of<T>(c, k));
    return result;
  } else {
    return block_of_masks<width, T>([&](int k) SINTER_LAMBDA {
      return F::template apply<V>(part_of<T>(a, k), part_of<T>(b, k), part_of<T>(c, k));
    });
  }
}

template <int width>
SINTER_INLINE Block<float, width> to_floats(const Block<std::int32_t, width>& b) {
  Block<float, width> r;
  for (int k = 0; k < width; ++k) r.v[k].v = __builtin_convertvector(b.v[k].v, Native<float>);
  return r;
}
template <int width>
SINTER_INLINE Block<float, width> to_floats(const Block<double, width>& b) {
  const auto narrow = [&](int k) SINTER_LAMBDA { return __builtin_convertvector(b.v[k].v, HalfWidthFloats); };
  Block<float, width> r;
  for (int k = 0; k < width; ++k) r.v[k].v = joined<Native<float>>(narrow(2 * k), narrow(2 * k + 1));
  return r;
}
template <class H, int width>
  requires(is_half<H>)
SINTER_INLINE Block<float, width> to_floats(const Block<H, width>& b) {
  Block<float, width> r;
  for (int k = 0; k < width; ++k) r.v[k] = load_wide(reinterpret_cast<const H*>(&b.v[k]));
  return r;
}
template <class H, int width>
SINTER_INLINE Block<H, width> to_halves(const Block<float, width>& b) {
  Block<H, width> r;
  for (int k = 0; k < width; ++k) store_narrow(reinterpret_cast<H*>(&r.v[k]), b.v[k].v);
  return r;
}
template <int width>
SINTER_INLINE Block<double, width> to_doubles(const Block<float, width>& b) {
  Block<double, width> r;
  for (int k = 0; k < 2 * width; ++k)
    r.v[k].v = __builtin_convertvector(half_of<HalfWidthFloats>(b.v[k / 2].v, k % 2), Native<double>);
  return r;
}

/// Integers of one or two bytes to four, and back, which wraps.
template <class From, int width>
SINTER_INLINE Block<std::int32_t, width> widened(const Block<From, width>& b) {
  Block<std::int32_t, width> r;
  for (int k = 0; k < width; ++k)
    if constexpr (sizeof(From) == 2)
      r.v[k].v = __builtin_convertvector(b.v[k], Native<std::int32_t>);
    else
      r.v[k].v = widened_bytes<std::int32_t>(reinterpret_cast<const std::uint8_t*>(&b.v[k]));
  if constexpr (std::is_same_v<From, std::int8_t>)
    for (auto& v : r.v) v.v = v.v << 24 >> 24;
  return r;
}
template <class To, int width>
SINTER_INLINE Block<To, width> narrowed(const Block<std::int32_t, width>& b) {
  static_assert(!is_half<To>);
  Block<To, width> r;
  for (int k = 0; k < width; ++k) r.v[k] = __builtin_convertvector(b.v[k].v, typename StoredPart<To>::type);
  return r;
}

/// Hides a value from the optimizer, which takes floats that become integers and floats again for trunc(): -0 instead
/// of 0.
template <class V>
SINTER_INLINE V hidden(V v) {
  asm("" : SINTER_VECTOR_OPERAND(v));
  return v;
}
/// Converts floats to integers of the same size: truncates and saturates, NaN becomes 0.
template <class To, class From, int width>
SINTER_INLINE Block<To, width> truncated(const Block<From, width>& b) {
  static_assert(sizeof(To) == sizeof(From));
  constexpr To highest = static_cast<To>(static_cast<std::make_unsigned_t<To>>(-1) >> 1), lowest = -highest - 1;
  Block<To, width> r;
  for (int k = 0; k < parts<To, width>; ++k) {
    const Vec<From> x = b.v[k], low(lowest), high = -low;
    const auto inside = (Native<From>)((NativeMask<From>)x.v & ((x >= low) & (x < high)).v);
    r.v[k].v = hidden(__builtin_convertvector(inside, Native<To>)) | ((x < low).v & lowest) | ((x >= high).v & highest);
  }
  return r;
}

/// A block's elements one by one.
template <class To, class From, int width>
SINTER_INLINE Block<To, width> converted_one_by_one(const Block<From, width>& b) {
  static_assert(!is_half<To> && !is_half<From>);
  Stored<From> from[elements<width>];
  Stored<To> to[elements<width>];
  __builtin_memcpy(from, &b, sizeof from);
  for (int i = 0; i < elements<width>; ++i) to[i] = converted<To, From>(from[i]);
  if (std::is_floating_point_v<From>) asm("" : "+m"(to));  // as hidden() does
  Block<To, width> r{};
  __builtin_memcpy(&r, to, sizeof to);
  return r;
}

/// A conversion to another dtype; the pairs of has_conversion() in compute_dtypes.hpp. The order of the cases matters.
template <class To, class From, int width>
SINTER_INLINE Block<To, width> cast(const Block<From, width>& b) {
  constexpr bool from_float = std::is_same_v<From, float>, from_double = std::is_same_v<From, double>;
  constexpr bool from_int32 = std::is_same_v<From, std::int32_t>, to_int32 = std::is_same_v<To, std::int32_t>;
  constexpr bool from_small = !is_computed<From> && !is_half<From>;
  if constexpr (std::is_same_v<From, bool> && is_computed<To>) {
    Block<To, width> r;
    for (int k = 0; k < parts<To, width>; ++k) r.v[k] = select(mask_part<To>(b, k), Vec<To>(1), Vec<To>(0));
    return r;
  } else if constexpr (std::is_same_v<From, bool>) {
    return cast<To>(cast<std::int32_t>(b));
  } else if constexpr (std::is_same_v<To, bool> && is_computed<From>) {
    return block_of_masks<width, From>([&](int k) SINTER_LAMBDA { return b.v[k] != Vec<From>(0); });
  } else if constexpr (from_small && to_int32) {
    return widened(b);
  } else if constexpr (from_small && (std::is_same_v<To, bool> || std::is_same_v<To, float>)) {
    return cast<To>(widened(b));
  } else if constexpr (from_int32 && !is_computed<To>) {
    return narrowed<To>(b);
  } else if constexpr (std::is_same_v<To, float> && (is_half<From> || from_int32 || from_double)) {
    return to_floats(b);
  } else if constexpr (is_half<To> && from_float) {
    return to_halves<To>(b);
  } else if constexpr (std::is_same_v<To, double> && from_float) {
    return to_doubles(b);
  } else if constexpr ((from_float && to_int32) || (from_double && std::is_same_v<To, std::int64_t>)) {
    return truncated<To>(b);
  } else {
    return converted_one_by_one<To>(b);
  }
}

/// How many elements of a row of n lie before the first whole vector in memory. Vectors that cross cache lines take up
/// to twice as long to store, and cannot be streamed.
template <class T>
SINTER_INLINE int unaligned_elements(const void* row, std::int64_t n, bool streams) {
  constexpr int alignment = elements<First::width> * static_cast<int>(sizeof(T)) < vector_bytes
                                ? elements<First::width> * static_cast<int>(sizeof(T))
                                : vector_bytes;
  if ((vector_bytes < 32 && !streams) || n < elements<Whole::width>) return 0;
  return static_cast<int>(-reinterpret_cast<std::uintptr_t>(row) % alignment / sizeof(T));
}

/// Calls body(i, range) for all blocks of n elements; the first has `head` elements, unless that is 0. T is the dtype
/// of the result.
template <class T, class F>
SINTER_INLINE void for_each_block(std::int64_t n, int head, bool streams, F body) {
  constexpr int whole = elements<Whole::width>, vector = elements<First::width>;
  std::int64_t i = head;
  if (head > 0) body(0, First{head});
  if constexpr (can_stream<T>)
    if (streams)
      for (; i + whole <= n; i += whole) body(i, Streamed{});
  for (; i + whole <= n; i += whole) body(i, Whole{});
  for (; i + vector <= n; i += vector) body(i, OneVector{});
  if (i < n) body(i, First{static_cast<int>(n - i)});
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
