// Small helpers for texts and messages.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace sinter::inline v1::runtime {

/// "512 B", "1.50 GiB".
std::string format_bytes(std::size_t bytes);

/// In double quotes, truncated after 60 characters, with \x escapes for unprintable ones.
std::string quote(std::string_view text);

/// A user's text for a message: at most this many bytes, shortened in the middle, at character boundaries.
std::string shortened(std::string_view text, std::size_t most = 120);

/// The shortest text that reads back as this number and not as an integer: "2.0", "1e-05".
std::string floating(double value);

/// For ASCII digits, in any locale.
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace sinter::inline v1::runtime
