// Environment variables that switch something on or off.
#pragma once

namespace sinter::inline v1::runtime {

/// Whether the variable says "off", "0", "false" or "no", in any case. Anything else but their opposites and nothing at
/// all is reported to stderr, once for each variable, and ignored.
bool is_off(const char* variable) noexcept;

/// The same for "on", "1", "true" and "yes".
bool is_on(const char* variable) noexcept;

}  // namespace sinter::inline v1::runtime
