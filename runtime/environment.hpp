// Reading environment variables.
#pragma once
#include <string>
#include <string_view>

namespace sinter::inline v1::runtime {

/// The variable's value; null where it is not set. A process that has more rights than whoever started it, as a setuid
/// program has, reads none: variables name compilers, libraries and folders.
const char* trusted_getenv(const char* variable) noexcept;

/// The variable's value and `suffix`; empty when it is not set or empty.
std::string environment(const char* variable, const char* suffix = "");

/// Whether the variable says "off", "0", "false" or "no", in any case. Anything else but their opposites and nothing at
/// all is reported, and ignored.
bool is_off(const char* variable) noexcept;

/// The same for "on", "1", "true" and "yes".
bool is_on(const char* variable) noexcept;

/// Whether two words are equal but for the case of their letters, as all names in variables are compared.
bool same_word(std::string_view a, std::string_view b) noexcept;

/// `NAME="value" cannot be read: expected ...`, for errors.
std::string cannot_read(std::string_view variable, std::string_view value, std::string_view expected);
/// Writes that to stderr, with what is done instead, once for each variable and value; also where SINTER_QUIET is on.
void report_unreadable(std::string_view variable, std::string_view value, std::string_view expected,
                       std::string_view instead) noexcept;

}  // namespace sinter::inline v1::runtime
