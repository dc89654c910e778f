// The functions that -fsanitize=thread calls before every memory access, for the strict tier. Defined here, inside the
// kernel, so that no sanitizer library is needed and the host program's, if any, is not used.
namespace sinter_virtual {

#ifdef __clang__  // which also instruments the atomic operations in other functions
#define SINTER_UNCHECKED disable_sanitizer_instrumentation
#else
#define SINTER_UNCHECKED no_sanitize("alignment", "thread")
#endif
#define SINTER_HOOK __attribute__((visibility("hidden"), used, noinline, SINTER_UNCHECKED))

static inline __attribute__((always_inline)) void check(Access kind, const volatile void* p, unsigned long bytes,
                                                        void* instruction) {
  state()->operations->access(kind, reinterpret_cast<unsigned long>(p), bytes,
                              reinterpret_cast<unsigned long>(instruction));
}
#define SINTER_CHECK(p, bytes, kind) check(Access::kind, p, bytes, __builtin_return_address(0))

extern "C" {

SINTER_HOOK void __tsan_init() {}
SINTER_HOOK void __tsan_func_entry(void*) {}
SINTER_HOOK void __tsan_func_exit() {}

#define SINTER_SIZE(n)                                                               \
  SINTER_HOOK void __tsan_read##n(void* p) { SINTER_CHECK(p, n, Read); }             \
  SINTER_HOOK void __tsan_write##n(void* p) { SINTER_CHECK(p, n, Write); }           \
  SINTER_HOOK void __tsan_unaligned_read##n(void* p) { SINTER_CHECK(p, n, Read); }   \
  SINTER_HOOK void __tsan_unaligned_write##n(void* p) { SINTER_CHECK(p, n, Write); } \
  SINTER_HOOK void __tsan_volatile_read##n(void* p) { SINTER_CHECK(p, n, Read); }    \
  SINTER_HOOK void __tsan_volatile_write##n(void* p) { SINTER_CHECK(p, n, Write); }
SINTER_SIZE(1)
SINTER_SIZE(2)
SINTER_SIZE(4)
SINTER_SIZE(8)
SINTER_SIZE(16)
#undef SINTER_SIZE
SINTER_HOOK void __tsan_read_range(void* p, unsigned long n) { SINTER_CHECK(p, n, Read); }
SINTER_HOOK void __tsan_write_range(void* p, unsigned long n) { SINTER_CHECK(p, n, Write); }

// Called by clang, which keeps a copy as a call.
SINTER_HOOK void* __tsan_memcpy(void* to, const void* from, unsigned long n) {
  SINTER_CHECK(from, n, Read);
  SINTER_CHECK(to, n, Write);
  return __builtin_memcpy(to, from, n);
}
SINTER_HOOK void* __tsan_memmove(void* to, const void* from, unsigned long n) {
  SINTER_CHECK(from, n, Read);
  SINTER_CHECK(to, n, Write);
  return __builtin_memmove(to, from, n);
}
SINTER_HOOK void* __tsan_memset(void* to, int value, unsigned long n) {
  SINTER_CHECK(to, n, Write);
  return __builtin_memset(to, value, n);
}

#define SINTER_FETCH(bits, T, name)                                           \
  SINTER_HOOK T __tsan_atomic##bits##_fetch_##name(volatile T* p, T v, int) { \
    SINTER_CHECK(p, sizeof(T), Atomic);                                       \
    return __atomic_fetch_##name(p, v, __ATOMIC_SEQ_CST);                     \
  }
#define SINTER_EXCHANGE(bits, T, strength, weak)                                                                  \
  SINTER_HOOK bool __tsan_atomic##bits##_compare_exchange_##strength(volatile T* p, T* expected, T v, int, int) { \
    SINTER_CHECK(p, sizeof(T), Atomic);                                                                           \
    return __atomic_compare_exchange_n(p, expected, v, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
  }
#define SINTER_EXCHANGE_VALUE(bits, T)                                                                 \
  SINTER_HOOK T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T v, int, int) { \
    SINTER_CHECK(p, sizeof(T), Atomic);                                                                \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    return expected;                                                                                   \
  }
#define SINTER_ATOMICS(bits, T)                                           \
  SINTER_HOOK T __tsan_atomic##bits##_load(const volatile T* p, int) {    \
    SINTER_CHECK(p, sizeof(T), Atomic);                                   \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                          \
  }                                                                       \
  SINTER_HOOK void __tsan_atomic##bits##_store(volatile T* p, T v, int) { \
    SINTER_CHECK(p, sizeof(T), Atomic);                                   \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                             \
  }                                                                       \
  SINTER_HOOK T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) { \
    SINTER_CHECK(p, sizeof(T), Atomic);                                   \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                   \
  }                                                                       \
  SINTER_FETCH(bits, T, add)                                              \
  SINTER_FETCH(bits, T, sub)                                              \
  SINTER_FETCH(bits, T, and)                                              \
  SINTER_FETCH(bits, T, or)                                               \
  SINTER_FETCH(bits, T, xor)                                              \
  SINTER_EXCHANGE(bits, T, strong, false)                                 \
  SINTER_EXCHANGE(bits, T, weak, true)                                    \
  SINTER_EXCHANGE_VALUE(bits, T)
SINTER_ATOMICS(8, unsigned char)
SINTER_ATOMICS(16, unsigned short)
SINTER_ATOMICS(32, unsigned)
SINTER_ATOMICS(64, unsigned long)
#undef SINTER_ATOMICS
#undef SINTER_EXCHANGE_VALUE
#undef SINTER_EXCHANGE
#undef SINTER_FETCH
SINTER_HOOK void __tsan_atomic_thread_fence(int) { state()->operations->fence(); }

}  // extern "C"

#undef SINTER_CHECK
#undef SINTER_HOOK
#undef SINTER_UNCHECKED

}  // namespace sinter_virtual
