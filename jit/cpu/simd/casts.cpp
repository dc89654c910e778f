// Conversions between dtypes: plain loops, which the compiler turns into this instruction set's conversions.
#include "conversions.hpp"
#include "loops.hpp"

namespace sinter::inline v1::jit::cpu::SINTER_ISA {
namespace {

template <class T>
inline constexpr bool is_stored_only =
    is_half<T> || (!std::is_same_v<T, bool> && std::is_integral_v<T> && (sizeof(T) <= 2 || std::is_unsigned_v<T>));
/// The compute dtype of T, a storage dtype (compute_dtype() in dtype.hpp).
template <class T>
using ComputeType =
    std::conditional_t<is_half<T>, float, std::conditional_t<sizeof(T) <= 2, std::int32_t, std::int64_t>>;

template <class To, class From>
void cast_row(void* out, const void* const* in, std::int64_t n) {
  auto* __restrict to = static_cast<Stored<To>*>(out);
  const auto* __restrict from = static_cast<const Stored<From>*>(in[0]);
  std::int64_t i = 0;
  constexpr std::int64_t lanes = Vec<float>::lanes;
  if constexpr (is_half<From>)
    for (; i + lanes <= n; i += lanes) Vec<float>(load_wide(from + i)).store(to + i);
  if constexpr (is_half<To>)
    for (; i + lanes <= n; i += lanes) store_narrow(to + i, Vec<float>::load(from + i).v);
  for (; i < n; ++i) to[i] = converted<To, From>(from[i]);
}

/// The pairs of has_conversion() in compute_dtypes.hpp.
template <class To, class From>
constexpr LoopForms cast_between() {
  constexpr bool float_to_uint64 = std::is_same_v<To, std::uint64_t> && std::is_floating_point_v<From>;
  if constexpr ((is_stored_only<To> && !std::is_same_v<From, ComputeType<To>> && !float_to_uint64) ||
                (is_half<From> && !std::is_same_v<To, float>))
    return {};
  else
    return {{cast_row<To, From>}};
}

// In the order of the dtypes.
#define SINTER_FROM(T)                                                                                     \
  cast_between<bool, T>(), cast_between<std::uint8_t, T>(), cast_between<std::int8_t, T>(),                \
      cast_between<std::uint16_t, T>(), cast_between<std::int16_t, T>(), cast_between<std::uint32_t, T>(), \
      cast_between<std::int32_t, T>(), cast_between<std::uint64_t, T>(), cast_between<std::int64_t, T>(),  \
      cast_between<Half, T>(), cast_between<BFloat16, T>(), cast_between<float, T>(), cast_between<double, T>()

}  // namespace

constinit const LoopForms cast_loops[cast_count] = {
    SINTER_FROM(bool),         SINTER_FROM(std::uint8_t),  SINTER_FROM(std::int8_t),  SINTER_FROM(std::uint16_t),
    SINTER_FROM(std::int16_t), SINTER_FROM(std::uint32_t), SINTER_FROM(std::int32_t), SINTER_FROM(std::uint64_t),
    SINTER_FROM(std::int64_t), SINTER_FROM(Half),          SINTER_FROM(BFloat16),     SINTER_FROM(float),
    SINTER_FROM(double)};

}  // namespace sinter::inline v1::jit::cpu::SINTER_ISA
