// Copies, fills, and copies past the cache.
#include "../row_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {
namespace {

template <class T, bool uniform>
void copy_row(void* out, const void* const* in, std::int64_t n) {
  loop(out, n, [](Vec<T> x) SINTER_LAMBDA { return x; }, Source<Vec<T>, uniform>(in[0]));
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
void stream_row(void* out, const void* const* in, std::int64_t n) {
  auto* to = static_cast<char*>(out);
  const auto* from = static_cast<const char*>(in[0]);
  std::int64_t head = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(to) % 64);
  if (head > n) head = n;
  __builtin_memcpy(to, from, static_cast<std::size_t>(head));
  std::int64_t i = head;
  for (; i + 64 <= n; i += 64)
    for (int b = 0; b < 64; b += vector_bytes) stream_vector(to + i + b, from + i + b);
  __builtin_memcpy(to + i, from + i, static_cast<std::size_t>(n - i));
}

}  // namespace

constinit const Rows memory_rows[static_cast<int>(Memory::count)] = {
    {{copy_row<bool, false>, copy_row<bool, true>}},
    {{copy_row<std::int32_t, false>, copy_row<std::int32_t, true>}},
    {{copy_row<std::int64_t, false>, copy_row<std::int64_t, true>}},
    {{stream_row}},
};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
