#include "value.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <runtime/text.hpp>

namespace sinter::inline v1::detail {
namespace {

std::string_view without_alias(std::string_view keyword) {
  return keyword == "dim" ? "axis" : keyword == "keepdims" ? "keepdim" : keyword;
}

}  // namespace

TextValue TextValue::tensor(Lazy<AnyType> e, Shape shape) {
  return {.kind = Kind::Tensor, .node = e.node(), .shape = shape};
}

TextValue TextValue::of(const TextNumber& n) { return {.kind = Kind::Number, .number = n}; }

std::string describe(const TextValue& v) {
  using Kind = TextValue::Kind;
  switch (v.kind) {
    case Kind::Tensor: return describe(OperandInfo{v.shape, v.node->dtype(), v.node->device()});
    case Kind::Scalar: return "a number that is not written in the text";
    case Kind::Number: return "a number";
    case Kind::List: return "a list";
    case Kind::Slice: return "a slice";
    case Kind::Ellipsis: return "'...'";
    case Kind::DType: return fmt::format("the dtype {}", name(v.dtype));
    case Kind::None: return "None";
  }
  return {};
}

jit::LazyRef node_of(const TextValue& v) {
  if (v.kind != TextValue::Kind::Number) return v.node;
  switch (v.number.category) {
    case Category::Bool: return lazy_node(v.number.integer != 0);
    case Category::Int: return lazy_node(v.number.integer);
    case Category::Float: return lazy_node(v.number.value.real());
    case Category::Complex: return lazy_node(v.number.value);
  }
  return {};
}

Arguments::Arguments(std::string_view text, TextRange call, std::string_view name,
                     std::span<const std::string_view> parameters, std::span<const TextValue> values,
                     std::span<const std::string_view> keywords)
    : text_(text), name_(name), call_(call), parameters_(parameters), given_(parameters.size()) {
  const std::size_t positional = values.size() - keywords.size();
  if (positional > parameters.size())
    throw_at(text, values[parameters.size()].place,
             fmt::format("{} takes {} argument{}, but {} are given", name, parameters.size(),
                         parameters.size() == 1 ? "" : "s", positional));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t parameter = i < positional ? i : place_of(keywords[i - positional], values[i].place);
    if (given_[parameter])
      throw_at(text, values[i].place, fmt::format("{}: the argument '{}' is given twice", name, parameters[parameter]));
    given_[parameter] = &values[i];
  }
  for (const TextValue*& value : given_)
    if (value && value->kind == TextValue::Kind::None) value = nullptr;
}

std::size_t Arguments::place_of(std::string_view keyword, TextRange place) const {
  const auto found = std::ranges::find(parameters_, without_alias(keyword));
  if (found == parameters_.end())
    throw_at(text_, place,
             fmt::format("{} has no argument '{}': it takes {}{}", name_, runtime::shortened(keyword),
                         fmt::join(parameters_, ", "), did_you_mean(keyword, parameters_)));
  return static_cast<std::size_t>(found - parameters_.begin());
}

void Arguments::wrong(std::size_t parameter, std::string_view expected) const {
  const TextValue* value = given_[parameter];
  throw_at(text_, value ? value->place : call_,
           fmt::format("{}: the argument '{}' must be {}, but {}", name_, parameters_[parameter], expected,
                       value ? fmt::format("got {}", describe(*value)) : "it is missing"));
}

const TextValue& Arguments::required(std::size_t parameter) const {
  if (!given_[parameter]) wrong(parameter, "given");
  return *given_[parameter];
}

const TextValue& Arguments::tensor(std::size_t parameter) const {
  if (!given_[parameter] || !given_[parameter]->is_tensor()) wrong(parameter, "a tensor");
  return *given_[parameter];
}

const TextValue& Arguments::operand(std::size_t parameter) const {
  if (!given_[parameter] || !given_[parameter]->is_operand()) wrong(parameter, "a tensor or a number");
  return *given_[parameter];
}

Axes Arguments::axes(std::size_t parameter, const Axes& fallback) const {
  const TextValue* value = given_[parameter];
  if (!value) return fallback;
  const std::span<const TextValue> items =
      value->kind == TextValue::Kind::List ? std::span<const TextValue>(value->items) : std::span(value, 1);
  std::vector<std::int64_t> axes;
  for (const TextValue& item : items) {
    if (item.kind != TextValue::Kind::Number || !item.number.is_int()) wrong(parameter, "an axis or a list of axes");
    axes.push_back(item.number.integer);
  }
  return Axes(axes);
}

bool Arguments::flag(std::size_t parameter) const {
  const TextValue* value = given_[parameter];
  if (!value) return false;
  if (value->kind != TextValue::Kind::Number || value->number.category != Category::Bool)
    wrong(parameter, "True or False");
  return value->number.integer != 0;
}

std::int64_t Arguments::integer(std::size_t parameter) const {
  const TextValue* value = given_[parameter];
  if (!value || value->kind != TextValue::Kind::Number || !value->number.is_int()) wrong(parameter, "an integer");
  return value->number.integer;
}

std::int64_t Arguments::integer(std::size_t parameter, std::int64_t fallback) const {
  return given_[parameter] ? integer(parameter) : fallback;
}

double Arguments::real(std::size_t parameter, double fallback) const {
  const TextValue* value = given_[parameter];
  if (!value) return fallback;
  if (value->kind != TextValue::Kind::Number || value->number.category == Category::Complex ||
      value->number.category == Category::Bool)
    wrong(parameter, "a number");
  return value->number.value.real();
}

Shape Arguments::shape(std::size_t parameter) const {
  const TextValue& value = required(parameter);
  const std::span<const TextValue> items =
      value.kind == TextValue::Kind::List ? std::span<const TextValue>(value.items) : std::span(&value, 1);
  Shape shape;
  for (const TextValue& item : items) {
    if (item.kind != TextValue::Kind::Number || !item.number.is_int())
      wrong(parameter, "a list of integers, as in (2, 3)");
    shape.push_back(item.number.integer);
  }
  return shape;
}

}  // namespace sinter::inline v1::detail
