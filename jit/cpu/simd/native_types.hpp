// The vector types of the instruction set that the including file is compiled for: the compiler's vector extension.
#pragma once
#include <cstdint>
#include <type_traits>

#if defined(__AVX512F__)
#define SINTER_ISA avx512
#elif defined(__AVX2__)
#define SINTER_ISA avx2
#elif defined(__SSE4_2__)
#define SINTER_ISA sse4
#elif defined(__aarch64__)
#define SINTER_ISA neon
#else
#error "The CPU's loops support x86-64 from SSE4.2 on, and AArch64"
#endif
#define SINTER_INLINE inline __attribute__((always_inline))
#define SINTER_LAMBDA __attribute__((always_inline))

namespace sinter::inline v1::jit::cpu::SINTER_ISA {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

/// A bool is stored as a byte; memory from outside may hold any nonzero value for true. Loads normalize it to 0 or 1.
/// Other types are stored as they are.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
/// The signed integer of the same size: the element type of a comparison's result.
template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 8, std::int64_t,
    std::conditional_t<sizeof(T) == 4, std::int32_t, std::conditional_t<sizeof(T) == 2, std::int16_t, std::int8_t>>>;

template <class T>
struct NativeVector {
  using type __attribute__((vector_size(vector_bytes))) = T;
  using unaligned __attribute__((vector_size(vector_bytes), aligned(sizeof(T)), may_alias)) = T;
};
template <class T>
using Native = typename NativeVector<Stored<T>>::type;
template <class T>
using NativeMask = typename NativeVector<Bits<T>>::type;

/// Copies any number of bytes without a call.
SINTER_INLINE void copy_bytes(void* to, const void* from, int bytes) {
  auto* t = static_cast<char*>(to);
  const auto* f = static_cast<const char*>(from);
  for (; bytes >= 8; bytes -= 8, t += 8, f += 8) __builtin_memcpy(t, f, 8);
  if (bytes & 4) __builtin_memcpy(t, f, 4), t += 4, f += 4;
  if (bytes & 2) __builtin_memcpy(t, f, 2), t += 2, f += 2;
  if (bytes & 1) *t = *f;
}

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
