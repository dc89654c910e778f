#include <fmt/format.h>

#include <algorithm>

#include <runtime/text.hpp>
#include "lexer.hpp"
#include "names.hpp"
#include "syntax.hpp"

namespace sinter::inline v1 {
namespace detail {
namespace {

class SignatureParser {
 public:
  explicit SignatureParser(std::string_view text) : text_(text), lexer_(text) {}

  std::vector<ArgumentType> read() {
    std::vector<ArgumentType> arguments;
    while (lexer_.now().kind != Token::Kind::End) {
      const TextRange place = lexer_.now().place();
      ArgumentType a = argument();
      if (std::ranges::find(arguments, a.name, &ArgumentType::name) != arguments.end())
        throw_at(text_, place, fmt::format("the argument '{}' is given twice", runtime::shortened(a.name)));
      if (arguments.size() == max_arguments)
        throw_at(text_, place, fmt::format("a signature has at most {} arguments", max_arguments));
      arguments.push_back(std::move(a));
      if (lexer_.now().kind == Token::Kind::End) break;
      expect(",", "',' or the end");
    }
    if (arguments.empty()) unexpected("an argument, as in z: f32[n]");
    return arguments;
  }

 private:
  [[noreturn]] void unexpected(std::string_view expected) {
    throw_at(text_, lexer_.now().place(), fmt::format("{} is expected, but got {}", expected, to_string(lexer_.now())));
  }
  void expect(std::string_view symbol, std::string_view what) {
    if (!lexer_.now().is(symbol)) unexpected(what);
    lexer_.take();
  }
  Token name(std::string_view what) {
    if (lexer_.now().kind != Token::Kind::Name) unexpected(what);
    return lexer_.take();
  }

  ArgumentType argument() {
    const Token given = name("the name of an argument");
    if (is_keyword(given.text))
      throw_at(text_, given.place(),
               fmt::format("'{}' has a built-in meaning and cannot be a name", runtime::shortened(given.text)));
    expect(":", "':' and the dtype, as in z: f32[n]");
    ArgumentType a{.name = std::string(given.text), .dtype = dtype(), .is_number = true};
    if (!lexer_.now().is("[")) return a;
    a.is_number = false;
    lexer_.take();
    while (!lexer_.now().is("]")) {
      if (a.shape.size() == max_ndim)
        throw_at(text_, lexer_.now().place(), fmt::format("a tensor has at most {} axes", max_ndim));
      a.shape.push_back(extent());
      if (!lexer_.now().is(",")) break;
      lexer_.take();
    }
    expect("]", "',' or ']'");
    return a;
  }
  sinter::DType dtype() {
    const Token given = name("a dtype, as f32 or float32");
    if (const auto found = dtype_named(given.text)) return *found;
    std::vector<std::string> names;
    for (int i = 0; i < dtype_count; ++i) {
      names.emplace_back(sinter::name(sinter::DType(i)));
      names.push_back(short_name(sinter::DType(i)));
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    throw_at(text_, given.place(),
             fmt::format("there is no dtype '{}'{}", runtime::shortened(given.text), did_you_mean(given.text, views)));
  }
  SymbolicExtent extent() {
    const Token token = lexer_.now();
    if (token.needs_minus) throw_too_large(text_, token);
    if (token.kind == Token::Kind::Number && token.number.is_int())
      return lexer_.take(), SymbolicExtent{"", token.number.integer};
    if (token.is("*")) return lexer_.take(), SymbolicExtent{"*"};
    return {std::string(name("an extent - a number, a symbol or * -").text)};
  }

  std::string_view text_;
  Lexer lexer_;
};

void match_tensor(const ArgumentType& a, const AnyTensor& t, std::map<std::string, std::int64_t>& symbols) {
  const auto wrong = [&](const std::string& why) {
    return fmt::format("the argument '{}' is {}: {}", runtime::shortened(to_string(a)), runtime::describe(t.impl()),
                       why);
  };
  if (t.dtype() != a.dtype) throw DTypeError(wrong("it has another dtype"));
  if (t.dim() != static_cast<int>(a.shape.size()))
    throw ShapeError(wrong(fmt::format("it has {} axes, not {}", t.dim(), a.shape.size())));
  for (std::size_t axis = 0; axis < a.shape.size(); ++axis) {
    const SymbolicExtent& e = a.shape[axis];
    const std::int64_t extent = t.shape()[static_cast<int>(axis)];
    if (e.symbol.empty() && extent != e.extent)
      throw ShapeError(wrong(fmt::format("axis {} has {} elements", axis, extent)));
    if (e.symbol.empty() || e.symbol == "*") continue;
    if (const auto [at, fresh] = symbols.try_emplace(e.symbol, extent); !fresh && at->second != extent)
      throw ShapeError(
          wrong(fmt::format("axis {} has {} elements, and {} is {} before", axis, extent, e.symbol, at->second)));
  }
}

}  // namespace
}  // namespace detail

std::vector<ArgumentType> parse_signature(std::string_view text) { return detail::SignatureParser(text).read(); }

std::string to_string(const ArgumentType& a) {
  std::string text = fmt::format("{}: {}", a.name, detail::short_name(a.dtype));
  if (a.is_number) return text;
  text += '[';
  for (const SymbolicExtent& e : a.shape) {
    if (&e != a.shape.data()) text += ", ";
    text += e.symbol.empty() ? std::to_string(e.extent) : e.symbol;
  }
  return text + ']';
}

std::map<std::string, std::int64_t> match(std::span<const ArgumentType> signature, std::span<const AnyTensor> tensors) {
  const auto wanted = std::ranges::count(signature, false, &ArgumentType::is_number);
  if (static_cast<std::size_t>(wanted) != tensors.size())
    throw Error(fmt::format("the signature has {} arguments that are tensors, but {} tensors are given", wanted,
                            tensors.size()));
  std::map<std::string, std::int64_t> symbols;
  std::size_t next = 0;
  for (const ArgumentType& a : signature)
    if (!a.is_number) detail::match_tensor(a, tensors[next++], symbols);
  return symbols;
}

}  // namespace sinter::inline v1
