// The functions of jit/cuda/prelude/ that programs call.
#pragma once
#include <array>
#include <string_view>

namespace sinter::inline v1::jit::loops {

/// The first operands of a call are locals, which it may change; the others are values.
struct PreludeCall {
  std::string_view name;
  int locals, values;
  bool has_result;
};

inline constexpr std::array prelude_calls{
    PreludeCall{"compensated_add", 2, 1, false},           PreludeCall{"compensated_value", 0, 2, true},
    PreludeCall{"update_max_shift", 3, 1, false},          PreludeCall{"rescale_to_max", 0, 3, true},
    PreludeCall{"rescale_to_larger_max", 0, 3, true},      PreludeCall{"recenter", 5, 3, false},
    PreludeCall{"moments_from_shifted_sums", 2, 2, false}, PreludeCall{"merge_moments", 4, 4, false},
};

/// Null if there is none of this name.
constexpr const PreludeCall* find_call(std::string_view name) noexcept {
  for (const PreludeCall& c : prelude_calls)
    if (c.name == name) return &c;
  return nullptr;
}

}  // namespace sinter::inline v1::jit::loops
