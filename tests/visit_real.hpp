// For references that only compute with bits of real numbers.
#pragma once
#include <stdexcept>
#include <type_traits>

#include <sinter/runtime/dtype.hpp>

namespace sinter::test {

/// Like visit(), for real dtypes.
template <class F>
constexpr decltype(auto) visit_real(DType t, F&& f) {
  switch (t) {
#define SINTER_REAL(T) \
  case dtype_of<T>: return f(std::type_identity<T>{});
    SINTER_REAL(bool)
    SINTER_REAL(std::uint8_t)
    SINTER_REAL(std::int8_t)
    SINTER_REAL(std::uint16_t)
    SINTER_REAL(std::int16_t)
    SINTER_REAL(std::uint32_t)
    SINTER_REAL(std::int32_t)
    SINTER_REAL(std::uint64_t)
    SINTER_REAL(std::int64_t)
    SINTER_REAL(half)
    SINTER_REAL(bfloat16)
    SINTER_REAL(float)
    SINTER_REAL(double)
#undef SINTER_REAL
    default: throw std::logic_error("a complex number where the reference has real ones");
  }
}

}  // namespace sinter::test
