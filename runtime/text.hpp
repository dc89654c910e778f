// Small helpers for messages.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace sinter::inline v1::runtime {

/// "512 B", "1.50 GiB".
std::string format_bytes(std::size_t bytes);

/// In double quotes, cut after 60 characters, with \x escapes for what does not print.
std::string quote(std::string_view text);

}  // namespace sinter::inline v1::runtime
