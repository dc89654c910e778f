// Reading environment variables.
#pragma once
#include <string>

namespace sinter::inline v1::runtime {

/// The variable's value and `suffix`; empty when it is not set or empty.
std::string environment(const char* variable, const char* suffix = "");

/// Whether the variable says "off", "0", "false" or "no", in any case. Anything else but their opposites and nothing at
/// all is reported to stderr, once for each variable, and ignored.
bool is_off(const char* variable) noexcept;

/// The same for "on", "1", "true" and "yes".
bool is_on(const char* variable) noexcept;

}  // namespace sinter::inline v1::runtime
