// Words of C.
#pragma once
#include <string_view>

namespace sinter::inline v1::jit {

constexpr bool is_word_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The length of the word that a text begins with.
constexpr std::size_t word_length(std::string_view text) noexcept {
  std::size_t length = 0;
  while (length < text.size() && is_word_character(text[length])) ++length;
  return length;
}

constexpr bool has_word(std::string_view text, std::string_view word) noexcept {
  while (!text.empty()) {
    const std::size_t length = word_length(text);
    if (text.substr(0, length) == word) return true;
    text.remove_prefix(length > 0 ? length : 1);
  }
  return false;
}

}  // namespace sinter::inline v1::jit
