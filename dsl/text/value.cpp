#include "value.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <jit/evaluate/lazy_node.hpp>
#include <runtime/text.hpp>

namespace sinter::inline v1::detail {
namespace {

std::string_view common_keyword(std::string_view keyword) {
  if (keyword == "dim" || keyword == "dims" || keyword == "axes") return "axis";
  return keyword == "keepdims" ? "keepdim" : keyword == "shape" ? "size" : keyword;
}

}  // namespace

TextValue TextValue::tensor(Lazy<AnyType> e, Shape shape) {
  return {.kind = Kind::Tensor, .node = e.node(), .shape = shape};
}

TextValue TextValue::tensor(const AnyTensor& t) {
  return {.kind = Kind::Tensor, .node = jit::lazy(t.impl()), .shape = t.shape(), .array = t.ref()};
}

TextValue TextValue::list(std::vector<TextValue> items) { return {.kind = Kind::List, .items = std::move(items)}; }

TextValue TextValue::of(const TextNumber& n) { return {.kind = Kind::Number, .number = n}; }

namespace {

std::string describe(const TextNumber& n) {
  if (n.category == Category::Complex) return "a complex number";
  if (n.category == Category::Bool) return n.integer ? "True" : "False";
  return n.is_integral() ? fmt::format("the number {}", n.integer)
                         : fmt::format("the number {}", runtime::floating(n.value.real()));
}

/// By its first element that is no integer.
std::string describe_list(std::span<const TextValue> items) {
  const auto is_integer = [](const TextValue& v) { return v.kind == TextValue::Kind::Number && v.number.is_int(); };
  const auto other = std::ranges::find_if_not(items, is_integer);
  return other == items.end() ? "a list" : fmt::format("a list with {}", describe(*other));
}

}  // namespace

std::string describe(const TextValue& v) {
  using Kind = TextValue::Kind;
  switch (v.kind) {
    case Kind::Tensor: return describe(OperandInfo{v.shape, v.node->dtype(), v.node->device()});
    case Kind::Scalar: return "a number that is not written in the text";
    case Kind::Number: return describe(v.number);
    case Kind::List: return describe_list(v.items);
    case Kind::Slice: return "a slice";
    case Kind::Ellipsis: return "'...'";
    case Kind::DType: return fmt::format("the dtype {}", name(v.dtype));
    case Kind::Device: return fmt::format("the device {}", to_string(v.device));
    case Kind::Text: return fmt::format("'{}'", runtime::shortened(v.text));
    case Kind::Generator: return "a Generator";
    case Kind::Other: return std::string(v.text);
    case Kind::None: return "None";
  }
  return {};
}

jit::LazyRef node_of(const TextValue& v) {
  if (v.kind != TextValue::Kind::Number) return v.node;
  return with_operand(v, [](const auto& number) { return lazy_node(number); });
}

runtime::TensorRef array_in(const TextValue& x) {
  if (x.array) return x.array;
  const jit::ContentRef content = jit::LazyAccess::snapshot(x.node);
  const bool is_operand = content->op == Op::leaf && content->leaf.is_current() && !content->origin && !content->is_cut;
  return is_operand ? content->leaf.tensor : runtime::TensorRef();
}

Arguments::Arguments(std::string_view text, TextRange call, std::string_view name, const TextParameters& parameters,
                     std::span<const TextValue> values, std::span<const std::string_view> keywords)
    : text_(text), name_(name), call_(call), parameters_(parameters), given_(parameters.names.size()) {
  const std::size_t positional = values.size() - keywords.size(), most = parameters.positional;
  if (positional > most)
    throw_at(
        text, values[most].place,
        fmt::format(
            "{} takes {} {}argument{}, but {} {} given{}", name, most,
            most < parameters.names.size() ? "positional " : "", most == 1 ? "" : "s", positional,
            positional == 1 ? "is" : "are",
            most < parameters.names.size() ? fmt::format("; '{}' is passed by name", parameters.names[most]) : ""));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t parameter = i < positional ? i : place_of(keywords[i - positional], values[i].place);
    if (given_[parameter])
      throw_at(text, values[i].place,
               fmt::format("{}: the argument '{}' is given twice", name, parameters.names[parameter]));
    given_[parameter] = &values[i];
  }
}

std::size_t Arguments::place_of(std::string_view keyword, TextRange place) const {
  const std::vector<std::string_view>& names = parameters_.names;
  auto found = std::ranges::find(names, keyword);
  if (found == names.end()) found = std::ranges::find(names, common_keyword(keyword), common_keyword);
  if (found == names.end())
    throw_at(text_, place,
             fmt::format("{} has no argument '{}': it takes {}{}", name_, runtime::shortened(keyword),
                         fmt::join(names, ", "), did_you_mean(keyword, names)));
  return static_cast<std::size_t>(found - names.begin());
}

void Arguments::throw_wrong(std::size_t parameter, std::string_view expected, std::string_view but) const {
  throw_at(text_, given_[parameter] ? given_[parameter]->place : call_,
           fmt::format("{}: the argument '{}' must be {}, but {}", name_, parameters_.names[parameter], expected, but));
}

void Arguments::wrong(std::size_t parameter, std::string_view expected) const {
  const TextValue* const value = given_[parameter];
  throw_wrong(parameter, expected, value ? fmt::format("got {}", describe(*value)) : "it is missing");
}

void Arguments::wrong(std::size_t parameter, std::string_view expected, const TextValue& element) const {
  throw_wrong(parameter, expected, fmt::format("got a list with {}", describe(element)));
}

const TextValue& Arguments::required(std::size_t parameter) const {
  if (!(*this)[parameter]) wrong(parameter, "given");
  return *(*this)[parameter];
}

const TextValue& Arguments::tensor(std::size_t parameter) const {
  if (!(*this)[parameter] || !(*this)[parameter]->is_tensor()) wrong(parameter, "a tensor");
  return *(*this)[parameter];
}

const TextValue& Arguments::operand(std::size_t parameter) const {
  if (!(*this)[parameter] || !(*this)[parameter]->is_operand()) wrong(parameter, "a tensor or a number");
  return *(*this)[parameter];
}

AnyTensor Arguments::target(std::size_t parameter) const {
  const TextValue& x = tensor(parameter);
  if (!x.array) wrong(parameter, "a Tensor, which is written to, not an expression");
  return AnyTensor(x.array);
}

std::span<const TextValue> Arguments::tensors(std::size_t parameter) const {
  const TextValue& list = required(parameter);
  if (list.kind != TextValue::Kind::List) wrong(parameter, "a list of tensors");
  for (const TextValue& item : list.items)
    if (!item.is_tensor()) wrong(parameter, "a list of tensors", item);
  return list.items;
}

Axes Arguments::axes(std::size_t parameter, const Axes& fallback) const {
  const TextValue* const value = (*this)[parameter];
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

bool Arguments::flag(std::size_t parameter, bool fallback) const {
  const TextValue* const value = (*this)[parameter];
  if (!value) return fallback;
  if (value->kind != TextValue::Kind::Number || value->number.category != Category::Bool)
    wrong(parameter, "True or False");
  return value->number.integer != 0;
}

std::int64_t Arguments::integer(std::size_t parameter) const {
  const TextValue* const value = (*this)[parameter];
  if (!value || value->kind != TextValue::Kind::Number || !value->number.is_int()) wrong(parameter, "an integer");
  return value->number.integer;
}

std::int64_t Arguments::integer(std::size_t parameter, std::int64_t fallback) const {
  return (*this)[parameter] ? integer(parameter) : fallback;
}

double Arguments::real(std::size_t parameter, double fallback) const {
  const TextValue* const value = (*this)[parameter];
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

DType Arguments::dtype(std::size_t parameter, DType fallback) const {
  const TextValue* const value = (*this)[parameter];
  if (!value) return fallback;
  if (value->kind != TextValue::Kind::DType) wrong(parameter, "a dtype");
  return value->dtype;
}

Device Arguments::device(std::size_t parameter, Device fallback) const {
  const TextValue* const value = (*this)[parameter];
  if (!value) return fallback;
  if (value->kind == TextValue::Kind::Text) return Device(value->text);
  if (value->kind != TextValue::Kind::Device) wrong(parameter, "a device");
  return value->device;
}

std::string_view Arguments::text(std::size_t parameter, std::string_view fallback) const {
  const TextValue* const value = (*this)[parameter];
  if (!value) return fallback;
  if (value->kind != TextValue::Kind::Text) wrong(parameter, "a text");
  return value->text;
}

const Generator* Arguments::generator(std::size_t parameter) const {
  const TextValue* const value = (*this)[parameter];
  if (!value) return nullptr;
  if (value->kind != TextValue::Kind::Generator) wrong(parameter, "a Generator");
  return value->generator;
}

}  // namespace sinter::inline v1::detail
