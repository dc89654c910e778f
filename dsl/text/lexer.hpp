// Text as tokens.
#pragma once
#include <sinter/runtime/float_environment.hpp>
#include "number.hpp"
#include "place.hpp"

namespace sinter::inline v1::detail {

struct Token {
  enum class Kind { End, Name, Number, Symbol };
  Kind kind = Kind::End;
  std::string_view text;
  std::size_t at = 0;
  TextNumber number{};
  bool needs_minus = false;  // 2^63, whose negative alone is an integer of 64 bits: `number` is that one

  bool is(std::string_view symbol) const noexcept { return kind == Kind::Symbol && text == symbol; }
  bool is_word(std::string_view word) const noexcept { return kind == Kind::Name && text == word; }
  Place place() const noexcept { return {at, std::max<std::size_t>(text.size(), 1)}; }
};

/// Reads a token ahead. Throws ParseError for what is none.
class Lexer {
 public:
  explicit Lexer(std::string_view text);
  const Token& now() const noexcept { return now_; }
  Token take();
  std::string_view text() const noexcept { return text_; }

 private:
  Token next();
  Token number();
  Token symbol();

  const runtime::DefaultFloats floats_;  // std::from_chars rounds as the program has set it
  std::string_view text_;
  std::size_t at_ = 0;
  Token now_;
};

/// Of an integer.
[[noreturn]] void throw_too_large(std::string_view text, const Token& number);
/// How a message calls a token.
std::string to_string(const Token& token);

}  // namespace sinter::inline v1::detail
