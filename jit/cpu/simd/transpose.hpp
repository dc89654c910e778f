// Transposes squares whose rows have 16 bytes, by shuffles that every instruction set has.
#pragma once
#include "../loop_table.hpp"
#include "vector_pairs.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

/// Squares of T side by side, one in each 16 bytes of a vector. Two of them: four were no faster.
template <class T>
struct Squares {
  static constexpr int side = 16 / static_cast<int>(sizeof(T)), count = vector_bytes < 32 ? 1 : 2;
  static constexpr int columns = side * count;
  using Row __attribute__((vector_size(16))) = T;
  using Rows __attribute__((vector_size(16 * count))) = T;
  using All = typename CountedTo<columns>::type;

  static SINTER_INLINE Row load(const T* from) {
    Row row;
    __builtin_memcpy(&row, from, sizeof row);
    return row;
  }
  template <int... i>
  static SINTER_INLINE Rows load(Lanes<i...>, const T* from, std::int64_t stride) {
    if constexpr (count == 1)
      return load(from);
    else
      return __builtin_shufflevector(load(from), load(from + side * stride), i...);
  }

  /// a0 b0 a1 b1 ... of the first half of each 16 bytes, or with half = 1 of the second.
  template <int half, int... i>
  static SINTER_INLINE Rows interleaved(Lanes<i...>, Rows a, Rows b) {
    return __builtin_shufflevector(a, b, (i / side * side + half * (side / 2) + i % side / 2 + i % 2 * columns)...);
  }

  /// to[r * pitch + i] = from[r + i * stride], r < side, i < columns.
  static SINTER_INLINE void transpose(T* to, std::int64_t pitch, const T* from, std::int64_t stride) {
    Rows v[side];
    for (int k = 0; k < side; ++k) v[k] = load(All{}, from + k * stride, stride);
    for (int round = side; round > 1; round /= 2) {  // as many as it takes until each element is in its place
      Rows w[side];
      for (int k = 0; k < side / 2; ++k) {
        w[2 * k] = interleaved<0>(All{}, v[k], v[k + side / 2]);
        w[2 * k + 1] = interleaved<1>(All{}, v[k], v[k + side / 2]);
      }
      for (int k = 0; k < side; ++k) v[k] = w[k];
    }
    for (int k = 0; k < side; ++k) __builtin_memcpy(to + k * pitch, &v[k], sizeof v[k]);
  }
};

/// n elements of each of a panel's rows; in[0] is a PanelCall.
template <class T>
void transpose_rows(void* out, const void* const* in, std::int64_t n) {
  using S = Squares<T>;
  const auto& [array, rows, stride, pitch] = *static_cast<const PanelCall*>(in[0]);
  auto* const to = static_cast<T*>(out);
  const auto* const from = static_cast<const T*>(array);
  const std::int64_t whole_rows = rows / S::side * S::side, whole = n / S::columns * S::columns;
  for (std::int64_t i = 0; i < whole; i += S::columns)
    for (std::int64_t r = 0; r < whole_rows; r += S::side)
      S::transpose(to + r * pitch + i, pitch, from + r + i * stride, stride);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t r = i < whole ? whole_rows : 0; r < rows; ++r) to[r * pitch + i] = from[r + i * stride];
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
