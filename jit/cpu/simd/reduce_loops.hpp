// Reduces rows to one value each, and merges the partial results of a row.
#pragma once
#include "../loop_table.hpp"
#include "accumulators.hpp"
#include "conversions.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

/// For adjacent rows, the elements that are read in turn, few enough for the hardware prefetcher.
inline constexpr std::int64_t strip_rows = 16;

template <class E>
SINTER_INLINE const E* row_at(const void* in, std::int64_t r, std::int64_t pitch) {
  return static_cast<const E*>(in) + r * pitch;
}

// Elements in memory as T, in which they are reduced: of T itself, or 16-bit floats.
template <class T, class E>
SINTER_INLINE Vec<T> load_as(const E* p) {
  if constexpr (is_half<E>)
    return {load_wide(p)};
  else
    return Vec<T>::load(p);
}
template <class T, class E>
SINTER_INLINE Vec<T> load_as(const E* p, int count) {
  if constexpr (is_half<E>)
    return {load_wide(p, count)};
  else
    return Vec<T>::load(p, count);
}
template <class T, class E>
SINTER_INLINE Stored<T> element_as(const E* p) {
  if constexpr (is_half<E>)
    return to_float(*p);
  else
    return value_of_stored<T>(p);
}

/// n elements, at least one, joined.
template <class F, class T, class E>
SINTER_INLINE Accumulators<F, T> gathered(const E* p, std::int64_t n) {
  using A = Accumulators<F, T>;
  constexpr int lanes = Vec<T>::lanes;
  A a;
  std::int64_t i = 0;
  if (n >= A::elements) {
    for (; i + A::elements <= n; i += A::elements) {
#pragma GCC unroll 4
      for (int k = 0; k < A::count; k += 2)
        a.add(k, load_as<T>(p + i + k * lanes), load_as<T>(p + i + (k + 1) * lanes));
    }
    a.join();
  }
  for (; i + lanes <= n; i += lanes) a.add(load_as<T>(p + i));
  if (const int rest = static_cast<int>(n - i); rest > 0) a.add_first(load_as<T>(p + i, rest), rest);
  return a;
}

template <class F, class T, class E>
SINTER_INLINE Stored<T> value_of(const E* p, std::int64_t n) {
  return gathered<F, T>(p, n).value();
}

/// Calls f with n as a constant, 1 to tiny_row, so that loops over consecutive rows are vectorized.
template <class F>
SINTER_INLINE void with_length(std::int64_t n, F f) {
  switch (n) {
    case 1: return f(Lanes<1>{});
    case 2: return f(Lanes<2>{});
    case 3: return f(Lanes<3>{});
    case 4: return f(Lanes<4>{});
    case 5: return f(Lanes<5>{});
    case 6: return f(Lanes<6>{});
    case 7: return f(Lanes<7>{});
    default: return f(Lanes<tiny_row>{});
  }
}

/// The state is a value of type T.
template <class F, class T, class E = Stored<T>>
struct PlainReduction {
  using S = Stored<T>;
  using First = S;
  static S* state(ReduceStates s) { return static_cast<S*>(s.first); }

  static void along(ReduceStates s, const void* in, std::int64_t rows, std::int64_t n, std::int64_t pitch,
                    std::int64_t) {
    S* const states = state(s);
    if (n <= tiny_row && pitch == n)
      return with_length(n, [&]<int length>(Lanes<length>)
                                SINTER_LAMBDA { tiny_rows<length>(states, static_cast<const E*>(in), rows); });
    for (std::int64_t r = 0; r < rows; ++r) {
      const E* const p = row_at<E>(in, r, pitch);
      S value = states[r];
      if (n <= tiny_row)
        for (std::int64_t i = 0; i < n; ++i) value = combine_scalars(value, element_as<T>(p + i));
      else
        value = combine_scalars(value, value_of<F, T>(p, n));
      states[r] = value;
    }
  }
  template <int n>
  static void tiny_rows(S* __restrict states, const E* __restrict p, std::int64_t rows) {
    for (std::int64_t r = 0; r < rows; ++r) {
      S value = element_as<T>(p + r * n);
      for (int i = 1; i < n; ++i) value = combine_scalars(value, element_as<T>(p + r * n + i));
      states[r] = combine_scalars(states[r], value);
    }
  }
  static SINTER_INLINE S combine_scalars(S a, S b) {
    if constexpr (std::is_same_v<T, bool>)
      return F::template identity<T>() == 0 ? a | b : a & b;
    else
      return F::combine_scalars(a, b);
  }

  template <int wide>
  static SINTER_INLINE void strip(S* state, const E* p, std::int64_t count, std::int64_t pitch) {
    using V = Vec<T>;
    V a[wide];
    [[maybe_unused]] Mask<T> nans[wide];
    for (int k = 0; k < wide; ++k) a[k] = V::load(state + k * V::lanes), nans[k] = Mask<T>{};
    for (std::int64_t j = 0; j < count; ++j, p += pitch)
#pragma GCC unroll 4
      for (int k = 0; k < wide; ++k) {
        const V x = load_as<T>(p + k * V::lanes);
        if constexpr (F::tracks_nan && std::is_floating_point_v<T>) nans[k] = nans[k] | (x != x);
        a[k] = F::combine(a[k], x);
      }
    for (int k = 0; k < wide; ++k) {
      if constexpr (F::tracks_nan && std::is_floating_point_v<T>) a[k] = select(nans[k], V(nan<T>()), a[k]);
      a[k].store(state + k * V::lanes);
    }
  }
  static void across(ReduceStates s, const void* in, std::int64_t n, std::int64_t count, std::int64_t pitch,
                     std::int64_t) {
    constexpr int lanes = Vec<T>::lanes, wide = 4;
    S* const states = state(s);
    for (std::int64_t j = 0; j < count; j += strip_rows) {
      const E* const p = row_at<E>(in, j, pitch);
      const std::int64_t rows = count - j < strip_rows ? count - j : strip_rows;
      std::int64_t i = 0;
      for (; i + wide * lanes <= n; i += wide * lanes) strip<wide>(states + i, p + i, rows, pitch);
      for (; i + lanes <= n; i += lanes) strip<1>(states + i, p + i, rows, pitch);
      for (; i < n; ++i)
        for (std::int64_t r = 0; r < rows; ++r)
          states[i] = combine_scalars(states[i], element_as<T>(p + r * pitch + i));
    }
  }
  static void start(ReduceStates s, std::int64_t n) {
    for (std::int64_t r = 0; r < n; ++r) state(s)[r] = F::template identity<T>();
  }
  static void merge(ReduceStates s, ReduceStates later, std::int64_t n) {
    for (std::int64_t r = 0; r < n; ++r) state(s)[r] = combine_scalars(state(s)[r], state(later)[r]);
  }
  static void finish(void* out, ReduceStates s, std::int64_t n) {
    __builtin_memcpy(out, s.first, static_cast<std::size_t>(n) * sizeof(S));
  }
};

/// Sums of floats: the state is a double.
template <class E>
struct FloatSum {
  using First = double;
  static double* state(ReduceStates s) { return static_cast<double*>(s.first); }

  static void along(ReduceStates s, const void* in, std::int64_t rows, std::int64_t n, std::int64_t pitch,
                    std::int64_t) {
    if (n <= tiny_row && pitch == n)
      return with_length(n, [&]<int length>(Lanes<length>)
                                SINTER_LAMBDA { tiny_rows<length>(state(s), static_cast<const E*>(in), rows); });
    for (std::int64_t r = 0; r < rows; ++r) state(s)[r] += row_sum(row_at<E>(in, r, pitch), n);
  }
  template <int n>
  static void tiny_rows(double* __restrict states, const E* __restrict p, std::int64_t rows) {
    for (std::int64_t r = 0; r < rows; ++r) {
      float sum = element_as<float>(p + r * n);
      for (int i = 1; i < n; ++i) sum += element_as<float>(p + r * n + i);
      states[r] += static_cast<double>(sum);
    }
  }
  static SINTER_INLINE double row_sum(const E* p, std::int64_t n) {
    if (n <= tiny_row) {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(element_as<float>(p + i));
      return sum;
    }
    if (n <= summed_block) return static_cast<double>(value_of<Sums, float>(p, n));
    Vec<double> low(0), high(0);
    for (std::int64_t i = 0; i < n; i += summed_block) {
      const TwoDoubles d = to_doubles(gathered<Sums, float>(p + i, n - i < summed_block ? n - i : summed_block).all);
      low = low + d.low;
      high = high + d.high;
    }
    return reduce_lanes<Sums>(low + high).v[0];
  }

  template <int wide>
  static SINTER_INLINE void strip(double* state, const E* p, std::int64_t count, std::int64_t pitch) {
    using V = Vec<float>;
    V a[wide];
    for (int k = 0; k < wide; ++k) a[k] = load_as<float>(p + k * V::lanes);
    for (std::int64_t i = 1; i < count; ++i)
#pragma GCC unroll 4
      for (int k = 0; k < wide; ++k) a[k] = a[k] + load_as<float>(p + i * pitch + k * V::lanes);
    for (int k = 0; k < wide; ++k) {
      const TwoDoubles d = to_doubles(a[k]);
      double* const to = state + k * V::lanes;
      (Vec<double>::load(to) + d.low).store(to);
      (Vec<double>::load(to + V::lanes / 2) + d.high).store(to + V::lanes / 2);
    }
  }
  static SINTER_INLINE void strip_of_few(double* state, const E* p, std::int64_t count, std::int64_t pitch,
                                         std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) {
      float sum = element_as<float>(p + k);
      for (std::int64_t i = 1; i < count; ++i) sum += element_as<float>(p + i * pitch + k);
      state[k] += static_cast<double>(sum);
    }
  }
  static void across(ReduceStates s, const void* in, std::int64_t n, std::int64_t count, std::int64_t pitch,
                     std::int64_t) {
    constexpr int lanes = Vec<float>::lanes, wide = 4;
    double* const states = state(s);
    for (std::int64_t j = 0; j < count; j += strip_rows) {
      const auto* p = static_cast<const E*>(in) + j * pitch;
      const std::int64_t rows = count - j < strip_rows ? count - j : strip_rows;
      std::int64_t i = 0;
      for (; i + wide * lanes <= n; i += wide * lanes) strip<wide>(states + i, p + i, rows, pitch);
      for (; i + lanes <= n; i += lanes) strip<1>(states + i, p + i, rows, pitch);
      if (i < n) strip_of_few(states + i, p + i, rows, pitch, n - i);
    }
  }
  static void start(ReduceStates s, std::int64_t n) {
    for (std::int64_t r = 0; r < n; ++r) state(s)[r] = 0;
  }
  static void merge(ReduceStates s, ReduceStates later, std::int64_t n) {
    for (std::int64_t r = 0; r < n; ++r) state(s)[r] += state(later)[r];
  }
  static void finish(void* out, ReduceStates s, std::int64_t n) {
    for (std::int64_t r = 0; r < n; ++r) static_cast<float*>(out)[r] = static_cast<float>(state(s)[r]);
  }
};

/// sum + error += x, where `error` collects the rounding errors of the sum (D. E. Knuth's TwoSum).
template <class V>
SINTER_INLINE void compensated_add(V& sum, V& error, V x) {
  const V s = sum + x, t = s - sum;
  error = error + ((sum - (s - t)) + (x - t));
  sum = s;
}

/// Sums of doubles: the state is a sum and its error, which is NaN once the sum is infinite.
struct DoubleSum {
  using First = double;
  static double* sum(ReduceStates s) { return static_cast<double*>(s.first); }
  static double* error(ReduceStates s) { return static_cast<double*>(s.second); }

  static void along(ReduceStates s, const void* in, std::int64_t rows, std::int64_t n, std::int64_t pitch,
                    std::int64_t) {
    for (std::int64_t r = 0; r < rows; ++r) add_row(sum(s)[r], error(s)[r], row_at<double>(in, r, pitch), n);
  }
  static SINTER_INLINE void add_row(double& sum, double& error, const double* p, std::int64_t n) {
    if (n <= tiny_row) {
      for (std::int64_t i = 0; i < n; ++i) compensated_add(sum, error, p[i]);
      return;
    }
    if (n <= summed_block) return compensated_add(sum, error, value_of<Sums, double>(p, n));
    Vec<double> sums(0), errors(0);
    for (std::int64_t i = 0; i < n; i += summed_block)
      compensated_add(sums, errors, gathered<Sums, double>(p + i, n - i < summed_block ? n - i : summed_block).all);
    for (int i = 0; i < Vec<double>::lanes; ++i) {
      compensated_add(sum, error, static_cast<double>(sums.v[i]));
      error += errors.v[i];
    }
  }

  template <int wide>
  static SINTER_INLINE void strip(double* sums, double* errors, const double* p, std::int64_t count,
                                  std::int64_t pitch) {
    using V = Vec<double>;
    V a[wide];
    for (int k = 0; k < wide; ++k) a[k] = V::load(p + k * V::lanes);
    for (std::int64_t i = 1; i < count; ++i)
#pragma GCC unroll 4
      for (int k = 0; k < wide; ++k) a[k] = a[k] + V::load(p + i * pitch + k * V::lanes);
    for (int k = 0; k < wide; ++k) {
      V so_far = V::load(sums + k * V::lanes), left = V::load(errors + k * V::lanes);
      compensated_add(so_far, left, a[k]);
      so_far.store(sums + k * V::lanes);
      left.store(errors + k * V::lanes);
    }
  }
  static void across(ReduceStates s, const void* in, std::int64_t n, std::int64_t count, std::int64_t pitch,
                     std::int64_t) {
    constexpr int lanes = Vec<double>::lanes, wide = 4;
    double *const sums = sum(s), *const errors = error(s);
    for (std::int64_t j = 0; j < count; j += strip_rows) {
      const auto* p = static_cast<const double*>(in) + j * pitch;
      const std::int64_t rows = count - j < strip_rows ? count - j : strip_rows;
      std::int64_t i = 0;
      for (; i + wide * lanes <= n; i += wide * lanes) strip<wide>(sums + i, errors + i, p + i, rows, pitch);
      for (; i + lanes <= n; i += lanes) strip<1>(sums + i, errors + i, p + i, rows, pitch);
      for (; i < n; ++i)
        for (std::int64_t r = 0; r < rows; ++r) compensated_add(sums[i], errors[i], p[r * pitch + i]);
    }
  }
  static void start(ReduceStates s, std::int64_t n) {
    for (std::int64_t r = 0; r < n; ++r) sum(s)[r] = error(s)[r] = 0;
  }
  static void merge(ReduceStates s, ReduceStates later, std::int64_t n) {
    for (std::int64_t r = 0; r < n; ++r) {
      compensated_add(sum(s)[r], error(s)[r], sum(later)[r]);
      error(s)[r] += error(later)[r];
    }
  }
  static void finish(void* out, ReduceStates s, std::int64_t n) {
    for (std::int64_t r = 0; r < n; ++r) {
      const double whole = sum(s)[r], left = error(s)[r];
      static_cast<double*>(out)[r] = left == left ? whole + left : whole;
    }
  }
};

/// Positions: the state is a value and its position, -1 while there is none. Parts are merged in order of position.
template <class F, class T, class E = T>
struct PositionReduction {
  using First = T;
  static T* value(ReduceStates s) { return static_cast<T*>(s.first); }
  static std::int64_t* place(ReduceStates s) { return static_cast<std::int64_t*>(s.second); }

  /// Whether a later element x replaces the current value.
  static SINTER_INLINE bool takes(T x, T so_far) { return F::beats(x, so_far) || (x != x && so_far == so_far); }
  static SINTER_INLINE void offer(ReduceStates s, std::int64_t r, T x, std::int64_t at) {
    if (place(s)[r] >= 0 && !takes(x, value(s)[r])) return;
    value(s)[r] = x;
    place(s)[r] = at;
  }

  static void along(ReduceStates s, const void* in, std::int64_t rows, std::int64_t n, std::int64_t pitch,
                    std::int64_t position) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const E* const p = row_at<E>(in, r, pitch);
      if (n <= tiny_row) {
        for (std::int64_t i = 0; i < n; ++i) offer(s, r, element_as<T>(p + i), position + i);
        continue;
      }
      for (std::int64_t i = 0; i < n; i += summed_block) {
        const std::int64_t count = n - i < summed_block ? n - i : summed_block;
        const T best = value_of<F, T>(p + i, count);
        if (place(s)[r] >= 0 && !takes(best, value(s)[r])) continue;
        value(s)[r] = best;
        place(s)[r] = position + i + first_equal(p + i, count, best);
      }
    }
  }
  /// The position of the value, or of the first NaN.
  static SINTER_INLINE std::int64_t first_equal(const E* p, std::int64_t n, T best) {
    using V = Vec<T>;
    const bool is_nan = best != best;
    const V wanted(best);
    std::int64_t i = 0;
    for (; i + V::lanes <= n; i += V::lanes) {
      const V x = load_as<T>(p + i);
      if (any(is_nan ? x != x : x == wanted)) break;
    }
    for (; i < n - 1; ++i)
      if (const T x = element_as<T>(p + i); is_nan ? x != x : x == best) break;
    return i;
  }

  static void across(ReduceStates s, const void* in, std::int64_t n, std::int64_t count, std::int64_t pitch,
                     std::int64_t position) {
    constexpr std::int64_t lanes = Vec<T>::lanes;
    const auto* p = static_cast<const E*>(in);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) across_lanes(s, i, p + i, count, pitch, position);
    for (std::int64_t j = 0; j < count && i < n; ++j)
      for (std::int64_t k = i; k < n; ++k) offer(s, k, element_as<T>(p + j * pitch + k), position + j);
  }
  static SINTER_INLINE void across_lanes(ReduceStates s, std::int64_t r, const E* p, std::int64_t count,
                                         std::int64_t pitch, std::int64_t position) {
    using V = Vec<T>;
    constexpr std::int64_t at_once = 1 << 30;  // row numbers that fit an int32
    for (std::int64_t k = 0; k < V::lanes; ++k) offer(s, r + k, element_as<T>(p + k), position);
    for (std::int64_t first = 1; first < count; first += at_once) {
      V best = V::load(value(s) + r);
      NativeMask<T> at = NativeMask<T>{} - 1;
      const std::int64_t end = count - first < at_once ? count : first + at_once;
      for (std::int64_t j = first; j < end; ++j) {
        const V x = load_as<T>(p + j * pitch);
        Mask<T> better = F::beats(x, best);
        if constexpr (std::is_floating_point_v<T>) better = better | ((x != x) & (best == best));
        best = select(better, x, best);
        at = better.v ? NativeMask<T>{} + static_cast<Bits<T>>(j - first) : at;
      }
      best.store(value(s) + r);
      for (int k = 0; k < V::lanes; ++k)
        if (at[k] >= 0) place(s)[r + k] = position + first + at[k];
    }
  }
  static void start(ReduceStates s, std::int64_t n) {
    for (std::int64_t r = 0; r < n; ++r) place(s)[r] = -1, value(s)[r] = 0;
  }
  static void merge(ReduceStates s, ReduceStates later, std::int64_t n) {
    for (std::int64_t r = 0; r < n; ++r)
      if (place(later)[r] >= 0) offer(s, r, value(later)[r], place(later)[r]);
  }
  static void finish(void* out, ReduceStates s, std::int64_t n) {
    __builtin_memcpy(out, s.second, static_cast<std::size_t>(n) * sizeof(std::int64_t));
  }
};

template <class R>
inline constexpr Reducer reducer_of = {R::along, R::across, R::start, R::merge, R::finish, sizeof(typename R::First)};

extern const Reducer reducers[reduction_count][reduce_dtypes];

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
