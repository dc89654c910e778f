// Functions in generated text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "functions.hpp"
#include "words.hpp"

namespace sinter::inline v1::jit {

std::string_view operation_name(const Node& n) {
  return n.op == Op::call ? std::string_view(called_function(n).source.name) : name(n.op);
}

std::string_view c_type(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "bool";
    case DType::Int32: return "int";
    case DType::Int64: return "long long";
    case DType::Float32: return "float";
    default: return "double";
  }
}

std::string definition(const DeviceFunction& function, std::string_view qualifiers) {
  const FunctionSource& s = function.source;
  std::vector<std::string> parameters;
  std::string unused;
  for (const FunctionSource::Parameter& p : s.parameters) {
    parameters.push_back(fmt::format("{} {}", c_type(p.dtype), p.name));
    if (!has_word(s.body, p.name)) unused += fmt::format("  (void){};\n", p.name);
  }
  const std::string_view body(s.body);
  const std::size_t begin = std::min(body.find_first_not_of(" \n"), body.size());
  return fmt::format("{} {} {}({}) {{\n{}  {}\n}}\n", qualifiers, c_type(s.result), function.symbol,
                     fmt::join(parameters, ", "), unused, body.substr(begin, body.find_last_not_of(" \n") + 1 - begin));
}

std::string definitions(const std::set<FunctionId>& called, std::string_view qualifiers) {
  std::string text;
  for (const FunctionId id : called) text += definition(function_of(id), qualifiers) + "\n";
  return text;
}

std::string without_header_names(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> names[]{{"int32_t", "int"},
                                                                         {"int64_t", "long long"},
                                                                         {"INFINITY", "__uint_as_float(0x7f800000u)"},
                                                                         {"NAN", "__uint_as_float(0x7fffffffu)"}};
  std::string out;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(word_length(text), 1);
    const std::string_view word = text.substr(0, length);
    const auto* const found = std::ranges::find(names, word, [](const auto& name) { return name.first; });
    out += found == std::end(names) ? word : found->second;
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace sinter::inline v1::jit
