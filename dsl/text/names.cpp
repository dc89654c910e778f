#include "names.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numbers>
#include <unordered_map>

namespace sinter::inline v1::detail {
namespace {

struct DTypeName {
  std::string_view name;
  DType dtype;
};
/// PyTorch's alternative names.
constexpr DTypeName dtype_names[] = {{"float", DType::Float32},    {"double", DType::Float64},
                                     {"half", DType::Float16},     {"int", DType::Int32},
                                     {"long", DType::Int64},       {"short", DType::Int16},
                                     {"cfloat", DType::Complex64}, {"cdouble", DType::Complex128}};

template <class... N>
std::vector<TextNumber> numbers(N... n) {
  const auto number = []<class T>(T value) {
    if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>)
      return TextNumber::of(value);
    else
      return TextNumber::of(static_cast<std::int64_t>(value));
  };
  return {number(n)...};
}

using Operations = std::unordered_map<std::string_view, TextOperation>;

/// The public operations of ops.def.
Operations operations_of_table() {
  Operations all;
#define SINTER_INTERNAL_OP(name, arity, rule)
#define SINTER_INTERNAL_COMPOSITE_OP(name, arity, rule)
#define SINTER_OP(name, arity, rule) all[#name] = {#name, Op::name, {}, {}};
#define SINTER_COMPOSITE_OP SINTER_OP
#define SINTER_DEFAULTS(name, ...) all[#name].defaults = numbers(__VA_ARGS__);
#define SINTER_PARAMETERS(name, ...) all[#name].parameters.names = {__VA_ARGS__};
#include <sinter/jit/op_list.def>
  for (auto& [name, operation] : all) {
    std::vector<std::string_view>& names = operation.parameters.names;
    if (names.empty()) {
      names = {"input", "other"};
      names.resize(info(operation.op).arity);
    }
    operation.parameters.positional = names.size();
  }
#define SINTER_OP(name, arity, rule)
#define SINTER_ALIAS(alias, name) all[#alias] = all[#name];
#include <sinter/jit/op_list.def>
  return all;
}

const Operations& operations() {
  static const Operations& all = *new Operations(operations_of_table());
  return all;
}

}  // namespace

TextParameters::TextParameters(const char* signature) {
  std::size_t by_position = none;
  for (std::string_view rest = signature; !rest.empty();) {
    const std::size_t comma = rest.find(", ");
    std::string_view parameter = rest.substr(0, comma);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 2);
    if (parameter == "*") {
      by_position = names.size();
      continue;
    }
    if (parameter.starts_with('*')) {
      parameter.remove_prefix(1);
      gathers = names.size();
      by_position = names.size() + 1;
    }
    const std::size_t equals = parameter.find('=');
    names.push_back(parameter.substr(0, equals));
    if (equals != std::string_view::npos) defaults.push_back(parameter.substr(equals + 1));
  }
  positional = std::min(names.size(), by_position);
}

bool is_keyword(std::string_view word) noexcept {
  constexpr std::string_view words[] = {"and", "or", "not", "if", "else", "is", "in", "lambda", "for"};
  return std::ranges::find(words, word) != std::end(words);
}

std::optional<TextNumber> constant_named(std::string_view name) noexcept {
  if (name == "True" || name == "true") return TextNumber::of(true);
  if (name == "False" || name == "false") return TextNumber::of(false);
  if (name == "inf") return TextNumber::of(std::numeric_limits<double>::infinity());
  if (name == "nan") return TextNumber::of(std::numeric_limits<double>::quiet_NaN());
  if (name == "pi") return TextNumber::of(std::numbers::pi);
  return {};
}

std::string short_name(DType dtype) {
  const std::string_view full = name(dtype);
  const std::size_t digits = full.find_first_of("0123456789");
  if (digits == std::string_view::npos) return std::string(full);
  return std::string(full.substr(0, full.starts_with("bf") ? 2 : 1)) + std::string(full.substr(digits));
}

std::optional<DType> dtype_named(std::string_view name) noexcept {
  for (int i = 0; i < dtype_count; ++i)
    if (name == sinter::name(DType(i)) || name == short_name(DType(i))) return DType(i);
  for (const DTypeName& d : dtype_names)
    if (d.name == name) return d.dtype;
  return {};
}

bool has_meaning(std::string_view name) noexcept { return name == "None" || constant_named(name) || dtype_named(name); }

const TextOperation* operation_named(std::string_view name) {
  const auto found = operations().find(name);
  return found == operations().end() ? nullptr : &found->second;
}

std::span<const FunctionAlias> function_aliases() {
  static constexpr FunctionAlias all[] = {{"absolute", "abs"},
                                          {"arccos", "acos"},
                                          {"arccosh", "acosh"},
                                          {"arcsin", "asin"},
                                          {"arcsinh", "asinh"},
                                          {"arctan", "atan"},
                                          {"arctan2", "atan2"},
                                          {"arctanh", "atanh"},
                                          {"bitwise_invert", "bitwise_not"},
                                          {"clip", "clamp"},
                                          {"concat", "cat"},
                                          {"concatenate", "cat"},
                                          {"conjugate", "conj"},
                                          {"degrees", "rad2deg"},
                                          {"equal", "eq"},
                                          {"fix", "trunc"},
                                          {"greater", "gt"},
                                          {"greater_equal", "ge"},
                                          {"invert", "bitwise_not"},
                                          {"left_shift", "bitwise_left_shift"},
                                          {"less", "lt"},
                                          {"less_equal", "le"},
                                          {"mod", "remainder"},
                                          {"moveaxis", "movedim"},
                                          {"negative", "neg"},
                                          {"not_equal", "ne"},
                                          {"permute_dims", "permute"},
                                          {"power", "pow"},
                                          {"radians", "deg2rad"},
                                          {"ravel", "flatten"},
                                          {"repeat_interleave", "repeat"},
                                          {"right_shift", "bitwise_right_shift"},
                                          {"swapaxes", "transpose"},
                                          {"swapdims", "transpose"},
                                          {"take_along_axis", "take_along_dim"}};
  return all;
}

std::string_view without_alias(std::string_view function) noexcept {
  const std::span<const FunctionAlias> all = function_aliases();
  const auto found = std::ranges::lower_bound(all, function, {}, &FunctionAlias::alias);
  return found != all.end() && found->alias == function ? found->name : function;
}

Op overload_of(Op op, std::size_t operands) noexcept {
#define SINTER_OP(name, arity, rule)
#define SINTER_OVERLOAD(name, arity, other) \
  if (op == Op::name && operands == arity) return Op::other;
#include <sinter/jit/op_list.def>
  return op;
}

std::optional<Op> reduction_named(std::string_view name) noexcept {
  for (int i = op_count; i < all_op_count; ++i)
    if (is_reduction(Op(i)) && info(Op(i)).name == name) return Op(i);
  return {};
}

std::span<const std::string_view> operation_names() {
  static const auto& all = *[] {
    auto names = std::make_unique<std::vector<std::string_view>>();
    for (const auto& [name, operation] : operations()) names->push_back(name);
    for (int i = op_count; i < all_op_count; ++i)
      if (is_reduction(Op(i))) names->push_back(info(Op(i)).name);
    std::ranges::sort(*names);
    return names.release();
  }();
  return all;
}

}  // namespace sinter::inline v1::detail
