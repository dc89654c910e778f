#include "call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include <sinter/jit/device_function.hpp>
#include <sinter/runtime/float_environment.hpp>

namespace sinter::inline v1::detail {
namespace {

Arguments arguments(const TextCall& call, std::string_view name, const TextParameters& parameters,
                    std::span<const TextValue> values, std::span<const std::string_view> keywords) {
  return Arguments(call.text, call.place, name, parameters, values, keywords);
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

/// Clamped at one bound. Floats also to infinity, because the gradient at the bound is clamp's.
TextValue clamped_at(const TextValue& x, const TextValue& bound, bool is_min) {
  const auto is_float = [](const TextValue& v) {
    return (v.kind == TextValue::Kind::Number ? v.number.category : category(v.node->dtype())) == Category::Float;
  };
  if (!is_float(x) && !is_float(bound)) return applied(is_min ? Op::maximum : Op::minimum, std::array{x, bound});
  const TextValue none = TextValue::of(TextNumber::of(is_min ? HUGE_VAL : -HUGE_VAL));
  return applied(Op::clamp, std::array{x, is_min ? bound : none, is_min ? none : bound});
}

TextValue operation_call(const TextCall& call, const TextOperation& operation, std::span<const TextValue> values,
                         std::span<const std::string_view> keywords) {
  if (operation.op == Op::where && call.is_method) {  // x.where(condition, other): the value comes first
    static const TextParameters& parameters = *new TextParameters("input, condition, other");
    const Arguments a = arguments(call, operation.name, parameters, values, keywords);
    const TextValue operands[] = {a.operand(1), a.operand(0), a.operand(2)};
    return applied(Op::where, operands);
  }
  const Arguments a = arguments(call, operation.name, operation.parameters, values, keywords);
  if (operation.op == Op::clamp && !a[1] && !a[2])
    throw_at(call.text, call.place, fmt::format("{} takes 'min', 'max' or both, but neither is given", call.name));
  if (operation.op == Op::clamp && bool(a[1]) != bool(a[2]))
    return clamped_at(a.operand(0), a.operand(a[1] ? 1 : 2), a[1]);
  return applied_with_defaults(operation, a);
}

TextValue function_call(const TextCall& call, const TextFunction& f, std::span<const TextValue> values,
                        std::span<const std::string_view> keywords) {
  const std::size_t positional = values.size() - keywords.size(), first = f.parameters.gathers;
  const bool has_rest = first != TextParameters::none && positional > first;
  if (!has_rest || (positional == first + 1 && values[first].kind == TextValue::Kind::List))
    return f.call(arguments(call, f.name, f.parameters, values, keywords));
  const auto rest = values.subspan(first, positional - first);
  std::vector<TextValue> packed(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(first));
  packed.push_back({.kind = TextValue::Kind::List, .items = {rest.begin(), rest.end()}, .place = rest[0].place});
  packed.insert(packed.end(), values.begin() + static_cast<std::ptrdiff_t>(positional), values.end());
  return f.call(arguments(call, f.name, f.parameters, packed, keywords));
}

using Functions = std::unordered_map<std::string_view, const TextFunction*>;

Functions functions_of(std::initializer_list<std::span<const TextFunction>> tables) {
  Functions all;
  for (const auto table : tables)
    for (const TextFunction& f : table) all[f.name] = &f;
  return all;
}

/// The functions of texts.
const Functions& lazy_functions() {
  static const Functions& all = *new Functions(functions_of({text_functions(), loss_functions(), text_views()}));
  return all;
}

/// All functions; those that evaluate come instead of lazy ones of the same name.
const Functions& all_functions() {
  static const Functions& all =
      *new Functions(functions_of({text_functions(), loss_functions(), text_views(), factory_functions(),
                                   random_functions(), join_functions(), order_functions(), write_functions()}));
  return all;
}

TextValue cast_call(const TextCall& call, std::span<const TextValue> values,
                    std::span<const std::string_view> keywords) {
  static const TextParameters& parameters = *new TextParameters("input, dtype");
  const Arguments a = arguments(call, call.name, parameters, values, keywords);
  if (!a[1] || a[1]->kind != TextValue::Kind::DType) a.wrong(1, "a dtype, as in x.to(float16)");
  return cast_value(a.operand(0), a[1]->dtype);
}

}  // namespace

TextValue cast_value(const TextValue& x, DType dtype) {
  const jit::LazyRef node = jit::lazy_cast(node_of(x), dtype);
  if (x.is_tensor()) return TextValue::tensor(Lazy<AnyType>(node), x.shape);
  return {.kind = TextValue::Kind::Scalar, .node = node};
}

std::optional<TextValue> call(const TextCall& given, std::span<const TextValue> values,
                              std::span<const std::string_view> keywords) {
  const runtime::DefaultFloatEnvironment floats;
  TextCall call = given;
  call.name = without_alias(given.name);
  if (call.name == "to" || call.name == "cast") return cast_call(call, values, keywords);
  const Functions& functions = call.may_evaluate ? all_functions() : lazy_functions();
  if (const auto f = functions.find(call.name); f != functions.end())
    return function_call(call, *f->second, values, keywords);
  if (const TextOperation* operation = operation_named(call.name))
    return operation_call(call, *operation, values, keywords);
  if (const auto op = reduction_named(call.name))
    return reduced(*op, arguments(call, call.name, parameters_of_reduction(*op), values, keywords));
  if (const auto dtype = dtype_named(call.name)) {
    static const TextParameters& parameters = *new TextParameters("input");
    return cast_value(arguments(call, call.name, parameters, values, keywords).operand(0), *dtype);
  }
  if (const auto function = jit::function_named(call.name)) return called(*function, call, values, keywords);
  return {};
}

bool is_function(std::string_view given) {
  const std::string_view name = without_alias(given);
  return name == "to" || name == "cast" || lazy_functions().contains(name) || operation_named(name) != nullptr ||
         reduction_named(name) || dtype_named(name);
}

bool evaluates(std::string_view function) {
  const std::string_view name = without_alias(function);
  return all_functions().contains(name) && !lazy_functions().contains(name);
}

namespace {

std::string python_number(const TextNumber& n) {
  if (n.category == Category::Bool) return n.integer ? "True" : "False";
  if (n.is_integral()) return std::to_string(n.integer);
  return fmt::format("{}", n.value.real());
}

CallSignature signature_of(const TextOperation& operation) {
  CallSignature s{{}, {}, std::string(doc(operation.op)), "Expression"};
  const std::size_t arity = info(operation.op).arity;
  for (std::size_t i = 0; i < operation.parameters.names.size(); ++i) {
    std::string& parameter = s.parameters.emplace_back(operation.parameters.names[i]);
    if (i >= arity || (operation.op == Op::clamp && i > 0))
      parameter += "=None";
    else if (const std::size_t from_end = arity - i; from_end <= operation.defaults.size())
      parameter += "=" + python_number(operation.defaults[operation.defaults.size() - from_end]);
  }
  return s;
}

std::vector<std::string> in_python(const TextParameters& p) {
  std::vector<std::string> all;
  const std::size_t required = p.names.size() - p.defaults.size();
  for (std::size_t i = 0; i < p.names.size(); ++i) {
    if (i == p.positional && p.gathers == TextParameters::none) all.emplace_back("*");
    std::string& parameter = all.emplace_back(i == p.gathers ? "*" : "");
    parameter += p.names[i];
    if (i >= required) parameter += "=" + std::string(p.defaults[i - required]);
  }
  return all;
}

CallSignature signature_of(std::string_view name) {
  if (const auto f = all_functions().find(name); f != all_functions().end())
    return {{}, in_python(f->second->parameters), std::string(f->second->doc), std::string(f->second->returns)};
  if (const TextOperation* operation = operation_named(name)) return signature_of(*operation);
  const Op op = *reduction_named(name);
  return {{}, in_python(parameters_of_reduction(op)), std::string(doc(op)), "Expression"};
}

/// Whether a function is also a method: its first operand is a tensor, whose shape is not all that it reads.
bool is_method(const CallSignature& s, std::string_view name) {
  const bool is_operation = operation_named(name) || reduction_named(name);
  return is_operation || (!s.parameters.empty() && s.parameters[0] == "input" && !name.ends_with("_like"));
}

}  // namespace

std::vector<CallSignature> call_signatures() {
  std::vector<CallSignature> all;
  const auto add = [&](std::string_view shown, std::string_view name) {
    CallSignature s = signature_of(name);
    s.name = shown;
    s.is_method = is_method(s, name);
    s.is_elementwise = operation_named(name) != nullptr;
    all.push_back(std::move(s));
  };
  for (const std::string_view name : operation_names())
    if (!all_functions().contains(name)) add(name, name);
  for (const auto& [name, f] : all_functions()) add(name, name);
  for (const FunctionAlias& a : function_aliases()) add(a.alias, a.name);
  std::ranges::sort(all, {}, &CallSignature::name);
  return all;
}

}  // namespace sinter::inline v1::detail
