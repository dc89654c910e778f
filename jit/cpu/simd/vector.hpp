// Vectors, and masks that compare them.
#pragma once
#if defined(__aarch64__)
#include "native_neon.hpp"
#else
#include "native_x86.hpp"
#endif

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

/// Converts loaded elements to values: bools become 0 or 1.
template <class T>
SINTER_INLINE Native<T> value_of_stored(Native<T> stored) {
  if constexpr (std::is_same_v<T, bool>) {
    return native_min(stored, Native<T>{} + 1);
  } else {
    return stored;
  }
}
template <class T>
SINTER_INLINE Stored<T> value_of_stored(const Stored<T>* p) {
  if constexpr (std::is_same_v<T, bool>)
    return *p != 0;
  else
    return *p;
}

template <class T>
struct Mask;

/// The number of elements in a register.
template <class T>
struct Vec {
  using element = Stored<T>;
  static constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
  Native<T> v;

  Vec() = default;
  SINTER_INLINE Vec(Native<T> n) : v(n) {}
  /// A broadcast. For bools the values are 0 and 1.
  template <class S>
    requires std::is_arithmetic_v<S>
  explicit SINTER_INLINE Vec(S s) : v(broadcast_value(static_cast<element>(static_cast<T>(s)))) {}

  static SINTER_INLINE Vec load(const element* p) {
    return value_of_stored<T>((Native<T>)*reinterpret_cast<const typename NativeVector<element>::unaligned*>(p));
  }
  static SINTER_INLINE Vec load(const element* p, int count) { return value_of_stored<T>(load_first<T>(p, count)); }
  static SINTER_INLINE Vec broadcast(const element* p) {
    element s;
    __builtin_memcpy(&s, p, sizeof s);  // copies read words of any type
    return value_of_stored<T>(broadcast_value(s));
  }
  SINTER_INLINE void store(element* p) const { *reinterpret_cast<typename NativeVector<element>::unaligned*>(p) = v; }
  SINTER_INLINE void store(element* p, int count) const { store_first<T>(p, v, count); }

  friend SINTER_INLINE Vec operator&(Vec a, Vec b) { return {(Native<T>)((NativeMask<T>)a.v & (NativeMask<T>)b.v)}; }
  friend SINTER_INLINE Vec operator|(Vec a, Vec b) { return {(Native<T>)((NativeMask<T>)a.v | (NativeMask<T>)b.v)}; }
  friend SINTER_INLINE Vec operator^(Vec a, Vec b) { return {(Native<T>)((NativeMask<T>)a.v ^ (NativeMask<T>)b.v)}; }
  friend SINTER_INLINE Vec operator+(Vec a, Vec b) {
    if constexpr (std::is_same_v<T, bool>)
      return a | b;
    else
      return {a.v + b.v};
  }
  friend SINTER_INLINE Vec operator*(Vec a, Vec b) {
    if constexpr (std::is_same_v<T, bool>)
      return a & b;
    else
      return {a.v * b.v};
  }
  friend SINTER_INLINE Vec operator-(Vec a, Vec b) { return {a.v - b.v}; }
  friend SINTER_INLINE Vec operator/(Vec a, Vec b)
    requires std::is_floating_point_v<T>
  {
    return {a.v / b.v};
  }
  friend SINTER_INLINE Vec operator-(Vec a) { return {-a.v}; }
  friend SINTER_INLINE Vec operator!(Vec a)
    requires std::is_same_v<T, bool>
  {
    return a ^ Vec(1);
  }

  friend SINTER_INLINE Mask<T> operator==(Vec a, Vec b) { return {(NativeMask<T>)(a.v == b.v)}; }
  friend SINTER_INLINE Mask<T> operator!=(Vec a, Vec b) { return {(NativeMask<T>)(a.v != b.v)}; }
  friend SINTER_INLINE Mask<T> operator<(Vec a, Vec b) { return {(NativeMask<T>)(a.v < b.v)}; }
  friend SINTER_INLINE Mask<T> operator<=(Vec a, Vec b) { return {(NativeMask<T>)(a.v <= b.v)}; }
  friend SINTER_INLINE Mask<T> operator>(Vec a, Vec b) { return {(NativeMask<T>)(a.v > b.v)}; }
  friend SINTER_INLINE Mask<T> operator>=(Vec a, Vec b) { return {(NativeMask<T>)(a.v >= b.v)}; }

 private:
  static SINTER_INLINE Native<T> broadcast_value(element s) {
    if constexpr (std::is_floating_point_v<T>)
      return s - Native<T>{};  // s + 0 would lose the sign of -0
    else
      return Native<T>{} + s;
  }
};

/// The result of comparing Vec<T>: each lane has all bits set or none. In memory, one bool per lane.
template <class T>
struct Mask {
  using element = std::uint8_t;
  static constexpr int lanes = Vec<T>::lanes;
  static constexpr int bytes_of_mask = lanes < 8 ? 8 : lanes;  // copy_bytes() moves eight
  NativeMask<T> v;

  static SINTER_INLINE Mask load(const element* p) { return {widen(p) != 0}; }
  static SINTER_INLINE Mask load(const element* p, int count) {
    alignas(16) element bytes[bytes_of_mask];
    load_first_bytes(bytes, p, count);
    return load(bytes);
  }
  static SINTER_INLINE Mask broadcast(const element* p) { return {(NativeMask<T>{} + static_cast<Bits<T>>(*p)) != 0}; }
  SINTER_INLINE void store(element* p) const;
  SINTER_INLINE void store(element* p, int count) const {
    alignas(16) element bytes[bytes_of_mask];
    store(bytes);
    store_first_bytes(p, bytes, count);
  }

  friend SINTER_INLINE Mask operator&(Mask a, Mask b) { return {a.v & b.v}; }
  friend SINTER_INLINE Mask operator|(Mask a, Mask b) { return {a.v | b.v}; }
  friend SINTER_INLINE Mask operator^(Mask a, Mask b) { return {a.v ^ b.v}; }
  friend SINTER_INLINE Mask operator!(Mask a) { return {~a.v}; }

 private:
  static SINTER_INLINE NativeMask<T> widen(const element* p);
};

/// x where the mask is set, else y.
template <class T>
SINTER_INLINE Vec<T> select(Mask<T> m, Vec<T> x, Vec<T> y) {
  return {m.v ? x.v : y.v};
}

/// Whether any lane is set.
template <class T>
SINTER_INLINE bool any(Mask<T> m) {
  return any_bit(m.v);
}

template <class T>
SINTER_INLINE NativeMask<T> Mask<T>::widen(const element* p) {
  if constexpr (sizeof(T) == 1)
    return *reinterpret_cast<const typename NativeVector<std::int8_t>::unaligned*>(p);
  else
    return widened_bytes<T>(p);
}

template <class T>
SINTER_INLINE void Mask<T>::store(element* p) const {
  if constexpr (sizeof(T) == 1)
    *reinterpret_cast<typename NativeVector<std::int8_t>::unaligned*>(p) = v & 1;
  else
    store_as_bytes<T>(p, v);
}

/// Applies f to each lane of x and y (and z), one by one: for functions without a useful vector form.
template <class R, class V, class F>
SINTER_INLINE R by_lane(F f, V x, V y) {
  R r;
  for (int i = 0; i < V::lanes; ++i) r.v[i] = f(x.v[i], y.v[i]);
  return r;
}
template <class R, class V, class F>
SINTER_INLINE R by_lane(F f, V x, V y, V z) {
  R r;
  for (int i = 0; i < V::lanes; ++i) r.v[i] = f(x.v[i], y.v[i], z.v[i]);
  return r;
}

/// Numbers of lanes, as arguments of templates.
template <int... i>
struct Lanes {};
template <int n, int... i>
struct CountedTo : CountedTo<n - 1, n - 1, i...> {};
template <int... i>
struct CountedTo<0, i...> {
  using type = Lanes<i...>;
};
template <class T>
using AllLanes = typename CountedTo<Vec<T>::lanes>::type;

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
