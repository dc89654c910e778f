// Texts in HTML and SVG.
#pragma once
#include <string>
#include <string_view>

namespace sinter::inline v1::jit::page {

/// With what is markup replaced, for texts and for attributes in double quotes. Bytes that no text has, control
/// characters and what is not UTF-8, become U+FFFD.
std::string escaped(std::string_view text);

/// At most so many characters, with an ellipsis where some are missing.
std::string clipped(std::string_view text, std::size_t most);

}  // namespace sinter::inline v1::jit::page
