// Copies, fills, copies past the cache, and counting.
#include "../row_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {
namespace {

template <class T>
SINTER_INLINE Vec<T> same(Vec<T> x) {
  return x;
}
template <class T, bool uniform>
void copy_row(void* out, const void* const* in, std::int64_t n) {
  loop(out, n, [](Vec<T> x) SINTER_LAMBDA { return same(x); }, Source<Vec<T>, uniform>(in[0]));
}

SINTER_INLINE void stream_vector(void* to, const void* from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(static_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX2__)
  _mm256_stream_si256(static_cast<__m256i*>(to), _mm256_loadu_si256(static_cast<const __m256i*>(from)));
#else
  _mm_stream_si128(static_cast<__m128i*>(to), _mm_loadu_si128(static_cast<const __m128i*>(from)));
#endif
}

/// Writes whole cache lines past the cache. The caller fences.
template <class T>
void stream_row(void* out, const void* const* in, std::int64_t n) {
  constexpr std::int64_t line = 64 / sizeof(T);
  auto* to = static_cast<T*>(out);
  const auto* from = static_cast<const T*>(in[0]);
  const auto misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % 64 / sizeof(T));
  std::int64_t i = misaligned == 0 ? 0 : line - misaligned;
  if (i > n) i = n;
  for (std::int64_t k = 0; k < i; ++k) to[k] = from[k];
  for (; i + line <= n; i += line)
    for (int b = 0; b < 64; b += vector_bytes)
      stream_vector(reinterpret_cast<char*>(to + i) + b, reinterpret_cast<const char*>(from + i) + b);
  for (; i < n; ++i) to[i] = from[i];
}

/// in[0][0] + i * in[1][0]
void index_row(void* out, const void* const* in, std::int64_t n) {
  auto* to = static_cast<std::int64_t*>(out);
  const std::int64_t first = *static_cast<const std::int64_t*>(in[0]), step = *static_cast<const std::int64_t*>(in[1]);
  for (std::int64_t i = 0; i < n; ++i) to[i] = first + i * step;
}

}  // namespace

constinit const Rows memory_rows[static_cast<int>(Memory::count)] = {
    {{copy_row<bool, false>, copy_row<bool, true>}},
    {{copy_row<std::int32_t, false>, copy_row<std::int32_t, true>}},
    {{copy_row<std::int64_t, false>, copy_row<std::int64_t, true>}},
    {{stream_row<std::uint8_t>}},
    {{stream_row<std::uint32_t>}},
    {{stream_row<std::uint64_t>}},
    {{index_row}},
};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
