// Reading environment variables.
#pragma once
#include <string>

namespace sinter::inline v1::runtime {

/// The variable's value and `suffix`; empty when it is not set or empty.
std::string environment(const char* variable, const char* suffix = "");

/// Whether the variable says "off", "0", "false" or "no", in any case. Anything else but their opposites and nothing at
/// all is reported to stderr, once for each variable.
bool is_off(const char* variable) noexcept;

/// Whether the variable is set, and to nothing that switches it off.
bool is_on(const char* variable) noexcept;

}  // namespace sinter::inline v1::runtime
