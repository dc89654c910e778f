// Reading environment variables.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sinter::inline v1::runtime {

/// The variable's value; null if it is not set. A process with more privileges than its user, such as a setuid program,
/// reads none, since variables name compilers, libraries and folders.
const char* trusted_getenv(const char* variable) noexcept;

/// The variable's value followed by `suffix`; empty if it is not set or empty.
std::string environment(const char* variable, const char* suffix = "");

/// Whether the variable is "off", "0", "false" or "no", in any case. Any other value, except their opposites and an
/// empty one, is reported and ignored.
bool is_off(const char* variable) noexcept;

/// Whether the variable is "on", "1", "true" or "yes".
bool is_on(const char* variable) noexcept;

/// The variable as a number of bytes. Anything else is reported, and `fallback` taken.
std::uint64_t environment_bytes(const char* variable, std::uint64_t fallback);

/// Whether two words are equal, ignoring case, as in all names in variables.
bool same_word(std::string_view a, std::string_view b) noexcept;

/// `NAME="value" is not valid: expected ...`, for errors.
std::string cannot_read(std::string_view variable, std::string_view value, std::string_view expected);
/// Prints that to stderr, with what is done instead, once per variable and value; also if SINTER_QUIET is on.
void report_unreadable(std::string_view variable, std::string_view value, std::string_view expected,
                       std::string_view instead) noexcept;

}  // namespace sinter::inline v1::runtime
