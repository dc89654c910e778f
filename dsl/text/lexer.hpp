// Splits a text into tokens.
#pragma once
#include <sinter/runtime/float_environment.hpp>
#include "number.hpp"
#include "text_range.hpp"

namespace sinter::inline v1::detail {

struct Token {
  enum class Kind { End, Name, Number, Symbol };
  Kind kind = Kind::End;
  std::string_view text;
  std::size_t at = 0;
  TextNumber number{};
  bool needs_minus = false;  // 2^63, which fits into 64 bits only when negated: `number` holds the negative

  bool is(std::string_view symbol) const noexcept { return kind == Kind::Symbol && text == symbol; }
  bool is_word(std::string_view word) const noexcept { return kind == Kind::Name && text == word; }
  TextRange place() const noexcept { return {at, std::max<std::size_t>(text.size(), 1)}; }
};

/// Reads one token ahead. Throws ParseError for invalid tokens.
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

  const runtime::DefaultFloatEnvironment floats_;  // std::from_chars rounds by the program's floating-point mode
  std::string_view text_;
  std::size_t at_ = 0;
  Token now_;
};

/// For an integer.
[[noreturn]] void throw_too_large(std::string_view text, const Token& number);
/// A token's name in messages.
std::string to_string(const Token& token);

}  // namespace sinter::inline v1::detail
