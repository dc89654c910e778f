#include "spelling.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

namespace sinter::python {
namespace {

struct Spelling {
  std::string_view cpp, python;
};
constexpr Spelling types[] = {{"float", "float32"},
                              {"double", "float64"},
                              {"half", "float16"},
                              {"int", "int32"},
                              {"std::int64_t", "int64"},
                              {"std::complex<float>", "complex64"},
                              {"std::complex<double>", "complex128"}};
constexpr Spelling phrases[] = {
    {".to<...>() or cast<...>(...)", ".to(dtype)"},
    {"the type of a mask must be bool: x[mask.as<bool>()], or", "a mask has the dtype bool: x[mask], or"},
    {"a C++ bool number", "a Python bool"},
    {"a C++ integer number", "a Python int"},
    {"a C++ floating-point number", "a Python float"},
    {"a C++ complex number", "a Python complex"},
    {"must be a text", "must be a str"},
    {"or give the gradient of each of its elements to vjp", "or give the gradient of each of its elements as seed"},
    {"combine them with vjp", "combine them with grad(value, x, seed=...)"},
    {"(auto or Lazy instead of Tensor), give cat, sort, cumsum and their kin sn::Lazy(x) instead of x, or ask for",
     "(an Expression instead of a Tensor), or ask for"},
    {"unused::zeros", "allow_unused=True"},
    {"gather(x, device)", "unshard(x, device)"},
    {"net.to_(device)", "net.to(device)"},
    {"sn::Timing::On", "timing=True"},
    {"sn::Stream s(0)", "sinter_jit.Stream(0)"},
    {"Mesh({sn::Device(0), sn::Device(1)})", "Mesh([0, 1])"},
    {"sn::", "sinter_jit."},
    // The class of the exception says this.
    {"IndexError: ", ""},
    {"ZeroDivisionError: ", ""}};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string dtype_for(std::string_view type) {
  const auto known = std::ranges::find(types, type, &Spelling::cpp);
  return known == std::end(types) ? "dtype" : '"' + std::string(known->python) + '"';
}

/// Replaces what begins with `opening` and has a type up to `>(`: cast<T>(x) and x.to<T>().
void replace_conversions(std::string& text, std::string_view opening) {
  for (std::size_t at = 0; (at = text.find(opening, at)) != std::string::npos;) {
    const std::size_t type = at + opening.size(), end = text.find(">(", type), close = text.find(')', end);
    if (end == std::string::npos || close == std::string::npos) return;
    const std::string operand = opening == "cast<" ? text.substr(end + 2, close - end - 2) : "";
    const std::string made = operand + ".to(" + dtype_for(std::string_view(text).substr(type, end - type)) + ")";
    text.replace(at, close + 1 - at, made);
    at += made.size();
  }
}

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The name that a message begins with: "mm" of "mm(float32, int64): ...", "mm: ..." and "mm takes 2 arguments".
std::string_view name_in(std::string_view message) {
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(message, is_letter) - message.begin());
  const std::string_view rest = message.substr(end);
  const bool is_name = end > 0 && (rest.starts_with(':') || rest.starts_with('(') || rest.starts_with(" takes ") ||
                                   rest.starts_with(" has no argument") || rest.starts_with(" expects "));
  return is_name ? message.substr(0, end) : std::string_view();
}

}  // namespace

std::string in_python(std::string_view message) {
  std::string text(message);
  for (const Spelling& s : phrases) replace_all(text, s.cpp, s.python);
  replace_conversions(text, "cast<");
  replace_conversions(text, ".to<");
  return text;
}

std::string said_by(std::string_view function, const std::string& message) {
  const std::string name(name_in(message));
  if (name == function) return message;
  if (name.empty()) return std::string(function) + ": " + message;
  std::string text;
  for (std::size_t at = 0; at < message.size();) {
    const bool is_word = message.compare(at, name.size(), name) == 0 && (at == 0 || !is_letter(message[at - 1])) &&
                         (at + name.size() == message.size() || !is_letter(message[at + name.size()]));
    text += is_word ? std::string(function) : std::string(1, message[at]);
    at += is_word ? name.size() : 1;
  }
  return text;
}

}  // namespace sinter::python
