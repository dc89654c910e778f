// Whether an element of any dtype that is not complex is NaN.
#pragma once
#include <type_traits>

namespace sinter::inline v1::jit::cpu {

template <class T>
bool is_nan(T value) noexcept {
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
    return static_cast<float>(value) != static_cast<float>(value);
  else
    return value != value;
}

}  // namespace sinter::inline v1::jit::cpu
