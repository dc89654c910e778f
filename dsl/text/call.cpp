#include "call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <sinter/runtime/float_environment.hpp>

namespace sinter::inline v1::detail {
namespace {

Arguments arguments(const TextCall& call, std::string_view name, std::span<const std::string_view> parameters,
                    std::span<const TextValue> values, std::span<const std::string_view> keywords) {
  return Arguments(call.text, call.place, name, parameters, values, keywords);
}

TextValue cast_value(const TextValue& x, DType dtype) {
  const jit::LazyRef node = jit::lazy_cast(node_of(x), dtype);
  if (x.is_tensor()) return TextValue::tensor(Lazy<AnyType>(node), x.shape);
  return {.kind = TextValue::Kind::Scalar, .node = node};
}

TextValue applied_with_defaults(const TextOperation& operation, const Arguments& a) {
  const std::size_t arity = info(operation.op).arity;
  std::size_t count = arity;
  for (std::size_t i = arity; i < a.size(); ++i)
    if (a[i]) count = i + 1;
  std::vector<TextValue> operands;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from_end = arity - i;
    if (!a[i] && i < arity && from_end <= operation.defaults.size())
      operands.push_back(TextValue::of(operation.defaults[operation.defaults.size() - from_end]));
    else
      operands.push_back(a.operand(i));
  }
  return applied(overload_of(operation.op, count), operands);
}

TextValue operation_call(const TextCall& call, const TextOperation& operation, std::span<const TextValue> values,
                         std::span<const std::string_view> keywords) {
  if (operation.op == Op::where && call.is_method) {  // x.where(condition, other): the value comes first
    const std::array<std::string_view, 3> parameters{"input", "condition", "other"};
    const Arguments a = arguments(call, operation.name, parameters, values, keywords);
    const TextValue operands[] = {a.operand(1), a.operand(0), a.operand(2)};
    return applied(Op::where, operands);
  }
  const Arguments a = arguments(call, operation.name, operation.parameters, values, keywords);
  if (operation.op == Op::clamp && bool(a[1]) != bool(a[2])) {
    const TextValue both[] = {a.operand(0), *(a[1] ? a[1] : a[2])};
    return applied(a[1] ? Op::maximum : Op::minimum, both);
  }
  return applied_with_defaults(operation, a);
}

TextValue function_call(const TextCall& call, const TextFunction& f, std::span<const TextValue> values,
                        std::span<const std::string_view> keywords) {
  const std::size_t last = f.parameters.size() - 1, positional = values.size() - keywords.size();
  if (!f.gathers || positional <= last || values[last].kind == TextValue::Kind::List)
    return f.call(arguments(call, f.name, f.parameters, values, keywords));
  const auto rest = values.subspan(last, positional - last);
  std::vector<TextValue> packed(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(last));
  packed.push_back({.kind = TextValue::Kind::List, .items = {rest.begin(), rest.end()}, .place = rest[0].place});
  packed.insert(packed.end(), values.begin() + static_cast<std::ptrdiff_t>(positional), values.end());
  return f.call(arguments(call, f.name, f.parameters, packed, keywords));
}

}  // namespace

std::optional<TextValue> call(const TextCall& call, std::span<const TextValue> values,
                              std::span<const std::string_view> keywords) {
  const runtime::DefaultFloatEnvironment floats;
  if (call.name == "to" || call.name == "cast") {
    const std::array<std::string_view, 2> parameters{"input", "dtype"};
    const Arguments a = arguments(call, call.name, parameters, values, keywords);
    if (!a[1] || a[1]->kind != TextValue::Kind::DType) a.wrong(1, "a dtype, as in x.to(float16)");
    return cast_value(a.operand(0), a[1]->dtype);
  }
  if (const TextOperation* operation = operation_named(call.name))
    return operation_call(call, *operation, values, keywords);
  if (const auto op = reduction_named(call.name)) {
    const std::vector<std::string_view> parameters = parameters_of_reduction(*op);
    return reduced(*op, arguments(call, call.name, parameters, values, keywords));
  }
  for (const auto functions : {text_functions(), text_views()})
    for (const TextFunction& f : functions)
      if (f.name == call.name) return function_call(call, f, values, keywords);
  if (const auto dtype = dtype_named(call.name)) {
    const std::array<std::string_view, 1> parameters{"input"};
    return cast_value(arguments(call, call.name, parameters, values, keywords).operand(0), *dtype);
  }
  return {};
}

namespace {

std::string python_number(const TextNumber& n) {
  if (n.category == Category::Bool) return n.integer ? "True" : "False";
  if (n.is_integral()) return std::to_string(n.integer);
  return fmt::format("{}", n.value.real());
}

CallSignature signature_of(std::string_view name, const TextOperation& operation) {
  CallSignature s{std::string(name), {}, std::string(doc(operation.op))};
  const std::size_t arity = info(operation.op).arity;
  for (std::size_t i = 0; i < operation.parameters.size(); ++i) {
    std::string& parameter = s.parameters.emplace_back(operation.parameters[i]);
    if (i >= arity || (operation.op == Op::clamp && i > 0))
      parameter += "=None";
    else if (const std::size_t from_end = arity - i; from_end <= operation.defaults.size())
      parameter += "=" + python_number(operation.defaults[operation.defaults.size() - from_end]);
  }
  return s;
}

CallSignature signature_of_reduction(std::string_view name, Op op) {
  CallSignature s{std::string(name), {}, std::string(doc(op))};
  for (const std::string_view parameter : parameters_of_reduction(op)) {
    const bool is_optional = info(op).reduction != Reduction::ShapePreserving && parameter != "input";
    s.parameters.push_back(std::string(parameter) + (!is_optional                ? ""
                                                     : parameter == "keepdim"    ? "=False"
                                                     : parameter == "correction" ? "=1"
                                                                                 : "=None"));
  }
  return s;
}

CallSignature signature_of(const TextFunction& f) {
  CallSignature s{std::string(f.name), {f.parameters.begin(), f.parameters.end()}, std::string(f.doc)};
  const std::size_t required = f.parameters.size() - f.defaults.size();
  for (std::size_t i = 0; i < f.defaults.size(); ++i) s.parameters[required + i] += "=" + std::string(f.defaults[i]);
  if (f.gathers) s.parameters.back().insert(0, "*");
  return s;
}

}  // namespace

std::vector<CallSignature> call_signatures() {
  std::vector<CallSignature> all;
  for (const std::string_view name : operation_names()) {
    if (const TextOperation* operation = operation_named(name))
      all.push_back(signature_of(name, *operation));
    else
      all.push_back(signature_of_reduction(name, *reduction_named(name)));
  }
  for (const TextFunction& f : text_functions()) all.push_back(signature_of(f));
  for (const TextFunction& f : text_views()) all.push_back(signature_of(f)), all.back().is_view = true;
  std::ranges::sort(all, {}, &CallSignature::name);
  return all;
}

}  // namespace sinter::inline v1::detail
