#include "operands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include <dsl/text/export.hpp>
#include <dsl/text/text_range.hpp>
#include <runtime/text.hpp>
#include <sinter/dsl/device_function.hpp>
#include <sinter/dsl/files.hpp>
#include <sinter/dsl/random.hpp>
#include "command_line.hpp"

namespace sinter::tool {
namespace {

using runtime::quote;

/// Whether all of the text is a number of type T. Throws UsageError for a number that T cannot hold.
template <class T>
bool is_number(const std::string& name, std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || end != text.data() + text.size() || error == std::errc::invalid_argument) return false;
  if (error != std::errc()) throw UsageError(fmt::format("{}: the number {} is out of range", name, text));
  return true;
}

Argument read_value(const std::string& name, std::string_view text) {
  const bool holds = text == "True" || text == "true";
  if (holds || text == "False" || text == "false") return {name, holds};
  std::int64_t whole = 0;
  if (is_number(name, text, whole)) return {name, whole};
  double real = 0;
  if (is_number(name, text, real)) return {name, real};
  return {name, std::string(text)};
}

std::int64_t extent_of(const ArgumentType& type, const SymbolicExtent& e,
                       const std::map<std::string, std::int64_t>& sizes) {
  if (e.symbol.empty()) return e.extent;
  if (e.symbol == "*")
    throw Error(
        fmt::format("the argument '{}' has an extent * of any size: write a number in its place", to_string(type)));
  if (const auto found = sizes.find(e.symbol); found != sizes.end()) return found->second;
  throw Error(
      fmt::format("the size {0} of the argument '{1}' is not given: add --size {0}=1000, or write the number "
                  "in its place",
                  e.symbol, to_string(type)));
}

Shape shape_of(const ArgumentType& type, const std::map<std::string, std::int64_t>& sizes) {
  Shape shape;
  for (const SymbolicExtent& e : type.shape) shape.push_back(extent_of(type, e, sizes));
  return shape;
}

/// From 0 to 1, integers from 1 to 100: values that every operation accepts.
AnyTensor random_tensor(const Shape& shape, DType dtype, Device device) {
  if (category(dtype) >= Category::Float)
    return AnyTensor(detail::random(detail::Distribution::Uniform, shape, dtype, device));
  if (category(dtype) == Category::Int) return AnyTensor(detail::random_integers(1, 101, shape, dtype, device));
  const runtime::TensorRef bits = detail::random_integers(0, 2, shape, DType::UInt8, device);
  return AnyTensor(jit::to(*bits, dtype, device));
}

void check_sizes(const std::vector<Argument>& arguments, const std::map<std::string, std::int64_t>& sizes) {
  std::set<std::string> symbols;
  for (const Argument& a : arguments)
    if (a.is_type())
      for (const SymbolicExtent& e : std::get<ArgumentType>(a.value).shape) symbols.insert(e.symbol);
  for (const auto& [name, extent] : sizes)
    if (!symbols.contains(name)) throw Error(fmt::format("--size {0}={1}: no argument has a size {0}", name, extent));
}

}  // namespace

void Operands::add(const std::string& name, AnyTensor tensor) {
  named.emplace_back(name, tensor);
  tensors.push_back({name, std::move(tensor)});
}

std::vector<Argument> read_arguments(const std::vector<std::string>& texts) {
  std::vector<Argument> all;
  for (const std::string& text : texts) {
    const std::size_t mark = text.find_first_of("=:");
    if (mark == std::string::npos || mark == 0)
      throw UsageError(fmt::format("--arg: {} is not NAME=FILE, NAME=NUMBER or 'NAME: TYPE[SHAPE]'", quote(text)));
    if (text[mark] == '=') {
      all.push_back(read_value(text.substr(0, mark), std::string_view(text).substr(mark + 1)));
    } else {
      for (ArgumentType& type : parse_signature(text)) {
        std::string name = type.name;
        all.push_back({std::move(name), std::move(type)});
      }
    }
  }
  std::set<std::string_view> seen;
  for (const Argument& a : all)
    if (!seen.insert(a.name).second) throw UsageError(fmt::format("--arg: {} is given twice", quote(a.name)));
  return all;
}

void define_functions(const std::vector<std::string>& definitions) {
  for (const std::string& definition : definitions) define_function(definition);
}

void check_used(const ParsedExpression& expression, const std::vector<Argument>& arguments) {
  const std::vector<std::string>& names = expression.names();
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const Argument& a : arguments)
    if (std::ranges::find(names, a.name) == names.end())
      throw Error(fmt::format("the expression does not name {}{}. It names: {}", quote(a.name),
                              detail::did_you_mean(a.name, known),
                              names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "))));
}

std::map<std::string, std::int64_t> read_sizes(const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> sizes;
  for (const std::string& text : texts) {
    const std::size_t mark = text.find('=');
    std::int64_t extent = 0;
    if (mark == std::string::npos || mark == 0 ||
        !is_number("--size", std::string_view(text).substr(mark + 1), extent) || extent < 0)
      throw UsageError(fmt::format("--size: {} is not NAME=NUMBER", quote(text)));
    if (!sizes.emplace(text.substr(0, mark), extent).second)
      throw UsageError(fmt::format("--size: {} is given twice", quote(text.substr(0, mark))));
  }
  return sizes;
}

Operands make_operands(const std::vector<Argument>& arguments, const std::map<std::string, std::int64_t>& sizes,
                       Fill fill, Device device) {
  check_sizes(arguments, sizes);
  Operands out;
  for (const Argument& a : arguments) {
    if (const auto* file = std::get_if<std::string>(&a.value)) {
      out.add(a.name, load_npy(*file, device));
    } else if (const auto* type = std::get_if<ArgumentType>(&a.value)) {
      if (type->is_number) {
        out.named.push_back(detail::number_operand(*type));
        continue;
      }
      const Shape shape = shape_of(*type, sizes);
      out.add(a.name, fill == Fill::Random ? random_tensor(shape, type->dtype, device)
                                           : AnyTensor(runtime::empty(shape, type->dtype, device)));
    } else if (const auto* holds = std::get_if<bool>(&a.value)) {
      out.named.emplace_back(a.name, *holds);
    } else if (const auto* whole = std::get_if<std::int64_t>(&a.value)) {
      out.named.emplace_back(a.name, *whole);
    } else {
      out.named.emplace_back(a.name, std::get<double>(a.value));
    }
  }
  return out;
}

}  // namespace sinter::tool
