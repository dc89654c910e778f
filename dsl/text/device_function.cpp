// Device functions in texts: their definitions in C, and calls of them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <jit/functions/words.hpp>
#include <sinter/dsl/device_function.hpp>
#include "call.hpp"

namespace sinter::inline v1 {
namespace {

using detail::TextRange;

/// Reads the head of a definition word by word.
class DefinitionReader {
 public:
  explicit DefinitionReader(std::string_view text) : text_(text) {}

  jit::FunctionSource read() {
    jit::FunctionSource made;
    made.result = type("the type of its result");
    made.name = word("its name");
    take('(');
    do made.parameters.push_back(parameter());
    while (takes(','));
    take(')');
    take('{');
    made.body = body();
    return made;
  }

 private:
  static bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  [[noreturn]] void fail(TextRange place, const std::string& what) const {
    detail::throw_at(text_, place,
                     what + "\n  A device function is written as in C: float scaled(float x, int n) { return x * n; }");
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool takes(char symbol) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != symbol) return false;
    ++at_;
    return true;
  }
  void take(char symbol) {
    if (!takes(symbol)) fail({at_, 1}, fmt::format("'{}' is expected", symbol));
  }
  std::string_view next_word() {
    skip_blanks();
    const std::string_view word = text_.substr(at_, jit::word_length(text_.substr(at_)));
    at_ += word.size();
    return word;
  }
  std::string word(std::string_view what) {
    const std::string_view found = next_word();
    if (found.empty()) fail({at_, 1}, fmt::format("{} is expected", what));
    return std::string(found);
  }

  sinter::DType type(std::string_view what) {
    skip_blanks();
    const std::size_t begin = at_;
    const std::string first = word(what);
    if (first == "float") return DType::Float32;
    if (first == "double") return DType::Float64;
    if (first == "int" || first == "int32_t") return DType::Int32;
    if (first == "int64_t") return DType::Int64;
    if (first == "bool" || first == "_Bool") return DType::Bool;
    if (first == "long" && next_word() == "long") return DType::Int64;
    fail({begin, at_ - begin},
         fmt::format("{} must be float, double, int or int32_t, long long or int64_t, or bool", what));
  }

  jit::FunctionSource::Parameter parameter() {
    const sinter::DType dtype = type("the type of a parameter");
    return {word("the name of a parameter"), dtype};
  }

  /// Up to the last brace.
  std::string body() {
    std::size_t end = text_.size();
    while (end > at_ && is_blank(text_[end - 1])) --end;
    if (end == at_ || text_[end - 1] != '}') fail({end, 1}, "'}' is expected at the end");
    return std::string(text_.substr(at_, end - 1 - at_));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

void define_function(std::string_view definition, std::initializer_list<std::string_view> derivatives) {
  detail::define_function(definition, {derivatives.begin(), derivatives.end()});
}

namespace detail {

jit::FunctionSource parse_function(std::string_view definition) { return DefinitionReader(definition).read(); }

jit::FunctionId define_function(std::string_view definition, std::vector<std::string> derivatives) {
  jit::FunctionSource source = parse_function(definition);
  source.derivatives = std::move(derivatives);
  if (is_function(source.name))
    throw Error(
        fmt::format("device_function '{}': texts have a function of this name: choose another one", source.name));
  return jit::define_function(std::move(source));
}

TextValue called(jit::FunctionId function, const TextCall& call, std::span<const TextValue> values,
                 std::span<const std::string_view> keywords) {
  const jit::FunctionSource& source = jit::source_of(function);
  std::vector<std::string_view> names;
  for (const jit::FunctionSource::Parameter& p : source.parameters) names.push_back(p.name);
  const std::string signature = fmt::format("{}", fmt::join(names, ", "));
  const TextParameters parameters(signature.c_str());
  const Arguments a(call.text, call.place, source.name, parameters, values, keywords);
  std::vector<TextValue> operands;
  std::vector<jit::LazyRef> nodes;
  for (std::size_t i = 0; i < a.size(); ++i) {
    operands.push_back(a.operand(i));
    nodes.push_back(node_of(operands.back()));
  }
  if (std::ranges::none_of(operands, &TextValue::is_tensor))
    throw_at(call.text, call.place, fmt::format("{} takes at least one tensor or expression", source.name));
  const Shape shape = common_shape(source.name, operands);
  return TextValue::tensor(Lazy<AnyType>(jit::lazy_call(function, nodes)), shape);
}

}  // namespace detail
}  // namespace sinter::inline v1
