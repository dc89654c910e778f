// Conversions between dtypes: plain loops, which the compiler turns into this instruction set's conversions.
#include "../row_loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {
namespace {

/// Floats to integers truncate and saturate, NaN gives 0; everything is x != 0 as a bool; the rest rounds once or
/// wraps.
template <class To, class From>
SINTER_INLINE Stored<To> converted(Stored<From> x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != 0;
  } else if constexpr (std::is_floating_point_v<From> && !std::is_floating_point_v<To>) {
    constexpr To highest = static_cast<To>(static_cast<std::make_unsigned_t<To>>(-1) >> 1);
    constexpr From limit = static_cast<From>(-static_cast<From>(-highest - 1));  // 2^31 or 2^63
    if (!(x >= -limit)) return x < -limit ? -highest - 1 : To{0};
    return x >= limit ? highest : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class To, class From>
void cast_row(void* out, const void* const* in, std::int64_t n) {
  auto* __restrict to = static_cast<Stored<To>*>(out);
  const auto* __restrict from = static_cast<const Stored<From>*>(in[0]);
  for (std::int64_t i = 0; i < n; ++i) to[i] = converted<To, From>(from[i]);
}

template <class From>
struct From5 {
  template <class To>
  static constexpr Rows to = {{cast_row<To, From>}};
};
#define SINTER_FROM(T) \
  From5<T>::to<bool>, From5<T>::to<std::int32_t>, From5<T>::to<std::int64_t>, From5<T>::to<float>, From5<T>::to<double>

}  // namespace

constinit const Rows cast_rows[cast_count] = {SINTER_FROM(bool), SINTER_FROM(std::int32_t), SINTER_FROM(std::int64_t),
                                              SINTER_FROM(float), SINTER_FROM(double)};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
