#include "lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include <runtime/text.hpp>

namespace sinter::inline v1::detail {
namespace {

using runtime::is_digit;

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

constexpr std::size_t longest_text = 1 << 20;

// Longer ones first.
constexpr std::string_view symbols[] = {"...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+",
                                        "-",   "*",  "/",  "%",  "@",  "&",  "|",  "^",  "~",  "<",
                                        ">",   "(",  ")",  "[",  "]",  ",",  ".",  ":",  "="};
/// Symbols of other languages, and what to write instead.
struct Foreign {
  std::string_view symbol, instead;
};
constexpr Foreign foreign[] = {{"&&", "write & between comparisons in parentheses: (a < b) & (b < c)"},
                               {"||", "write | between comparisons in parentheses: (a < b) | (b < c)"},
                               {"!", "write ~x for bools, or logical_not(x)"},
                               {"?", "write where(condition, a, b)"}};

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) {
  if (text.size() > longest_text)
    throw ParseError(fmt::format("the text has {} bytes: {} are read at most", text.size(), longest_text), 0);
  now_ = next();
}

Token Lexer::take() {
  Token taken = now_;
  now_ = next();
  return taken;
}

Token Lexer::next() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  if (at_ == text_.size()) return {Token::Kind::End, {}, at_};
  const char c = text_[at_];
  if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number();
  if (!begins_name(c)) return symbol();
  const std::size_t begin = at_;
  while (at_ < text_.size() && (begins_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
  return {Token::Kind::Name, text_.substr(begin, at_ - begin), begin};
}

Token Lexer::number() {
  const std::size_t begin = at_;
  const auto digits = [&] {
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  };
  digits();
  bool whole = true;
  if (at_ < text_.size() && text_[at_] == '.') whole = false, ++at_, digits();
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    const std::size_t sign = at_ + 1 < text_.size() && (text_[at_ + 1] == '+' || text_[at_ + 1] == '-');
    if (at_ + 1 + sign < text_.size() && is_digit(text_[at_ + 1 + sign])) whole = false, at_ += 1 + sign, digits();
  }
  Token token{Token::Kind::Number, text_.substr(begin, at_ - begin), begin};
  const char *first = token.text.data(), *last = first + token.text.size();
  if (whole) {
    constexpr std::uint64_t past_int64 = std::uint64_t{1} << 63;
    std::uint64_t value = 0;
    if (std::from_chars(first, last, value).ec != std::errc() || value > past_int64) throw_too_large(text_, token);
    token.needs_minus = value == past_int64;
    token.number = TextNumber::of(static_cast<std::int64_t>(value));
    token.number.value = static_cast<double>(value);
  } else {
    double value = 0;
    if (std::from_chars(first, last, value).ec != std::errc())
      throw_at(text_, token.place(), "this number is too large or too small for a float of 64 bits: write inf, or 0");
    token.number = TextNumber::of(value);
  }
  if (at_ < text_.size() && (text_[at_] == 'j' || text_[at_] == 'J')) {
    token.needs_minus = false;
    token.number = TextNumber::of(std::complex<double>(0, token.number.value.real()));
    token.text = text_.substr(begin, ++at_ - begin);
  }
  if (at_ < text_.size() && (begins_name(text_[at_]) || is_digit(text_[at_])))
    throw_at(text_, {at_}, fmt::format("a number ends before '{}': write an operator between them", text_[at_]));
  return token;
}

Token Lexer::symbol() {
  const std::string_view rest = text_.substr(at_);
  for (const Foreign& f : foreign)
    if (rest.starts_with(f.symbol) && !rest.starts_with("!="))
      throw_at(text_, {at_, f.symbol.size()}, fmt::format("there is no '{}' here: {}", f.symbol, f.instead));
  for (const std::string_view s : symbols)
    if (rest.starts_with(s)) {
      at_ += s.size();
      return {Token::Kind::Symbol, text_.substr(at_ - s.size(), s.size()), at_ - s.size()};
    }
  std::size_t length = 1;
  while (length < rest.size() && (static_cast<unsigned char>(rest[length]) & 0xC0) == 0x80) ++length;
  throw_at(text_, {at_, length}, "this character has no meaning in an expression");
}

void throw_too_large(std::string_view text, const Token& number) {
  throw_at(text, number.place(), "this integer does not fit 64 bits: write it as a float, 1e20");
}

std::string to_string(const Token& token) {
  return token.kind == Token::Kind::End ? "the end of the text" : fmt::format("'{}'", runtime::shortened(token.text));
}

}  // namespace sinter::inline v1::detail
