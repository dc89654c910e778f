// Errors that show their place in a text.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include <sinter/dsl/parse.hpp>

namespace sinter::inline v1::detail {

/// A range of bytes in a text.
struct TextRange {
  std::size_t at = 0;
  std::size_t length = 1;
};
/// The place of something that is not in a text.
inline constexpr TextRange no_range{static_cast<std::size_t>(-1), 0};

/// The line of the text that contains the place, with a caret below it. Empty for no_range.
std::string with_caret(std::string_view text, TextRange place);
[[noreturn]] void throw_at(std::string_view text, TextRange place, const std::string& what);

/// The most similar of these names, by edit distance; empty if none is close.
std::string_view nearest(std::string_view name, std::span<const std::string_view> names);
/// "; did you mean 'exp'?", or empty.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> names);

}  // namespace sinter::inline v1::detail
