#include "source_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <runtime/text.hpp>
#include <sinter/jit/ops.hpp>
#include <sinter/runtime/error.hpp>
#include "c_names.hpp"
#include "words.hpp"

namespace sinter::inline v1::jit {
namespace {

/// The length of the comment, string or character that a text begins with; 0 if it begins with something else, npos if
/// it does not end.
std::size_t skipped_length(std::string_view text) noexcept {
  const auto behind = [&](std::string_view end) {
    const std::size_t at = text.find(end, 2);
    return at == text.npos ? text.npos : at + end.size();
  };
  if (text.starts_with("//")) return behind("\n");
  if (text.starts_with("/*")) return behind("*/");
  if (text[0] != '"' && text[0] != '\'') return 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == text[0])
      return i + 1;
  }
  return text.npos;
}

bool is_supported(DType dtype) noexcept {
  return dtype == DType::Bool || dtype == DType::Int32 || dtype == DType::Int64 || dtype == DType::Float32 ||
         dtype == DType::Float64;
}

[[noreturn]] void fail(const FunctionSource& s, const std::string& problem) {
  throw Error(fmt::format("device_function {}: {}", runtime::quote(s.name), problem));
}

void check_dtype(const FunctionSource& s, std::string_view what, DType dtype) {
  if (!is_supported(dtype))
    fail(s, fmt::format("{} is {}, but functions take and return float, double, int32_t, int64_t and bool; smaller "
                        "floats convert to float when they are passed",
                        what, name(dtype)));
}

/// `example`: what it could return.
void check_body(const FunctionSource& s, std::string_view what, const std::string& body, const std::string& example) {
  // What stands for #, { and }, and a comment that goes on in the next line.
  for (const std::string_view refused :
       {std::string_view("#"), std::string_view("\0", 1), std::string_view("\\\n"), std::string_view("%:"),
        std::string_view("<%"), std::string_view("%>"), std::string_view("??")})
    if (body.find(refused) != body.npos)
      fail(s, fmt::format("{} may not contain {}: it has no preprocessor directives, line continuations, digraphs, "
                          "trigraphs or null characters",
                          what, runtime::quote(refused)));
  if (end_of_body(body + "\n}") != body.size() + 1)
    fail(s,
         fmt::format("{} is not the inside of one function: its braces, parentheses, comments or quotes do not match, "
                     "or it contains the end of the function. Define one function at a time",
                     what));
  if (!has_word(body, "return"))
    fail(s, fmt::format("{} returns nothing: it needs a statement such as \"return {};\"", what, example));
}

void check_parameters(const FunctionSource& s) {
  if (s.parameters.empty() || s.parameters.size() > max_function_parameters)
    fail(s, fmt::format("it has {} parameters, but a function takes 1 to {}", s.parameters.size(),
                        max_function_parameters));
  std::set<std::string_view> names;
  for (const FunctionSource::Parameter& p : s.parameters) {
    check_name(p.name, "parameter");
    if (!names.insert(p.name).second) fail(s, fmt::format("two parameters are called {}", p.name));
    check_dtype(s, fmt::format("parameter {}", p.name), p.dtype);
    if (!s.derivatives.empty() && (p.name == gradient_name || p.name == result_name))
      fail(s, fmt::format("in derivatives {} is {}: call the parameter something else", p.name,
                          p.name == gradient_name ? "the gradient of the result" : "the result"));
  }
}

bool is_operation(std::string_view function) noexcept {
  for (int op = 0; op < all_op_count; ++op)
    if (name(static_cast<Op>(op)) == function) return true;
  return false;
}

}  // namespace

std::size_t end_of_body(std::string_view text) noexcept {
  std::string open = "{";
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t skipped = skipped_length(text.substr(i));
    if (skipped == text.npos) return text.npos;
    if (skipped > 0) {
      i += skipped;
      continue;
    }
    const char c = text[i];
    if (c == '{' || c == '(' || c == '[') open += c;
    if (c == '}' || c == ')' || c == ']') {
      const char opening = c == '}' ? '{' : c == ')' ? '(' : '[';
      if (open.back() != opening) return text.npos;
      open.pop_back();
      if (open.empty()) return i;
    }
    ++i;
  }
  return text.npos;
}

void check_source(const FunctionSource& s) {
  check_name(s.name, "device_function");
  if (is_operation(s.name)) fail(s, "an operation has this name: choose another one");
  check_dtype(s, "its result", s.result);
  check_parameters(s);
  check_body(s, "its body", s.body, "2 * " + s.parameters[0].name);
  if (!s.derivatives.empty() && s.derivatives.size() != s.parameters.size())
    fail(s, fmt::format("the number of derivatives ({}) differs from the number of parameters ({}): give one for each "
                        "parameter, \"\" where there is none",
                        s.derivatives.size(), s.parameters.size()));
  if (!s.derivatives.empty() && category(s.result) != Category::Float)
    fail(s, fmt::format("its result is {}, which has no derivatives", name(s.result)));
  for (std::size_t i = 0; i < s.derivatives.size(); ++i) {
    if (s.derivatives[i].empty()) continue;
    const FunctionSource::Parameter& p = s.parameters[i];
    if (category(p.dtype) != Category::Float)
      fail(s, fmt::format("parameter {} is {}, which has no derivative: give \"\"", p.name, name(p.dtype)));
    check_body(s, fmt::format("the derivative with respect to {}", p.name), s.derivatives[i], "2 * g");
  }
}

}  // namespace sinter::inline v1::jit
