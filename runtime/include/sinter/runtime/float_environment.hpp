// Keeps results independent of the host program's settings for rounding, denormals and exceptions.
#pragma once
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif
#include <cstdint>

namespace sinter::inline v1::runtime {

/// Sets the default floating-point environment for a scope: round to nearest, denormals kept, no traps. Costs one load
/// if it is already set.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() noexcept : saved_(read()) {
    if (differs()) [[unlikely]]
      write(standard);
  }
  ~DefaultFloatEnvironment() {
    if (differs()) [[unlikely]]
      write(saved_);
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  using Word = unsigned;
  static constexpr Word standard = _MM_MASK_MASK, flags = _MM_EXCEPT_MASK;
  static Word read() noexcept { return _mm_getcsr(); }
  static void write(Word w) noexcept { _mm_setcsr(w); }
#elif defined(__aarch64__)
  using Word = std::uint64_t;
  static constexpr Word standard = 0, flags = 0;
  static Word read() noexcept {
    Word w;
    __asm__ volatile("mrs %0, fpcr" : "=r"(w));
    return w;
  }
  static void write(Word w) noexcept { __asm__ volatile("msr fpcr, %0" : : "r"(w)); }
#endif
  bool differs() const noexcept { return (saved_ & ~flags) != standard; }

  Word saved_;
};

}  // namespace sinter::inline v1::runtime
