// Text in HTML and SVG.
#pragma once
#include <string>
#include <string_view>

namespace sinter::inline v1::jit::page {

/// Escapes markup, for text and for attributes in double quotes. Control characters and invalid UTF-8 become U+FFFD.
std::string escaped(std::string_view text);

/// Shortens a text to at most this many characters, with an ellipsis for those left out.
std::string clipped(std::string_view text, std::size_t most);

}  // namespace sinter::inline v1::jit::page
