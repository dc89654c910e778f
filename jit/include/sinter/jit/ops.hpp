// What is known of each operation, from the table ops.def.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include <sinter/jit/dtype_rule.hpp>
#include <sinter/runtime/dtype.hpp>

namespace sinter::inline v1 {

/// The operations of a graph: five that carry an attribute, then the table.
enum class Op : std::uint8_t {
  leaf,      // an element of a tensor
  index,     // the row-major position of the element in a tensor without memory (int64)
  scalar,    // a value given at evaluation
  constant,  // a value fixed in the expression
  cast,      // conversion to the node's dtype
#define SINTER_OP(name, arity, rule, body, doc) name,
#define SINTER_COMPOSITE_OP SINTER_OP
#include <sinter/jit/ops.def>
};

struct OpInfo {
  std::string_view name;
  std::uint8_t arity;
  DTypeRule rule;
  std::string_view body;  // the tokens of ops.def
  std::string_view doc;
  bool is_composite = false;  // executors have its body's operations, not it
};

namespace detail {
inline constexpr OpInfo op_info[] = {
    {"leaf", 0, DTypeRule::None, "", ""},
    {"index", 0, DTypeRule::None, "", ""},
    {"scalar", 0, DTypeRule::None, "", ""},
    {"constant", 0, DTypeRule::None, "", ""},
    {"cast", 1, DTypeRule::None, "convert<T>(a)",
     "a converted to another dtype; floats to integers truncate and saturate, NaN gives 0"},
#define SINTER_OP(name, arity, rule, body, doc) {#name, arity, DTypeRule::rule, #body, doc},
#define SINTER_COMPOSITE_OP(name, arity, rule, body, doc) {#name, arity, DTypeRule::rule, #body, doc, true},
#include <sinter/jit/ops.def>
};
}  // namespace detail

inline constexpr int op_count = std::size(detail::op_info);
inline constexpr Op first_table_op = Op::add;
inline constexpr int max_arity = [] {
  int most = 0;
  for (const OpInfo& about : detail::op_info) most = about.arity > most ? about.arity : most;
  return most;
}();

constexpr const OpInfo& info(Op op) noexcept { return detail::op_info[static_cast<std::uint8_t>(op)]; }
constexpr std::string_view name(Op op) noexcept { return info(op).name; }
constexpr bool is_composite(Op op) noexcept { return info(op).is_composite; }

/// One operand as promotion sees it: a tensor's dtype counts in full, a C++ scalar lifts the category only.
struct OperandType {
  DType dtype;
  bool weak = false;  // a C++ scalar of default_dtype(category)
};

/// Types of one operation. `ok` is false when the operation does not take these operands.
struct OpTypes {
  bool ok;
  DType compute;  // what the operands convert to (but the first one of where, which is bool)
  DType result;
};

/// The dtype that tensors and scalars together have. With scalars only, the promotion of their defaults.
constexpr OperandType common_type(std::span<const OperandType> operands) noexcept {
  bool any_tensor = false;
  DType tensors = DType::Bool;
  Category scalars = Category::Bool;
  for (const OperandType& o : operands) {
    if (o.weak)
      scalars = category(o.dtype) > scalars ? category(o.dtype) : scalars;
    else
      tensors = promote(tensors, o.dtype), any_tensor = true;
  }
  return any_tensor ? OperandType{promote(tensors, scalars)} : OperandType{default_dtype(scalars), true};
}

/// The one place that decides dtypes; used at compile time by dsl/ and at run time by the recorder.
constexpr OpTypes op_types(Op op, std::span<const OperandType> operands) noexcept {
  const DTypeRule rule = info(op).rule;
  const bool first = (rule == DTypeRule::First || rule == DTypeRule::FirstNumber) && !operands[0].weak;
  const DType common = common_type(rule == DTypeRule::Select ? operands.subspan(1)
                                   : first                   ? operands.first(1)
                                                             : operands)
                           .dtype;
  const DType floating = category(common) == Category::Float ? common : DType::Float32;
  switch (rule) {
    case DTypeRule::Same:
    case DTypeRule::First: return {true, common, common};
    case DTypeRule::FirstNumber:
    case DTypeRule::Number: return {common != DType::Bool, common, common};
    case DTypeRule::Integer: return {category(common) != Category::Float, common, common};
    case DTypeRule::IntegerOnly: return {category(common) == Category::Int, common, common};
    case DTypeRule::Float: return {true, floating, floating};
    case DTypeRule::WideFloat: return {category(common) == Category::Float && !is_stored_only(common), common, common};
    case DTypeRule::Float64: return {true, DType::Float64, DType::Float64};
    case DTypeRule::FloatOnly: return {category(common) == Category::Float, floating, floating};
    case DTypeRule::Compare: return {true, common, DType::Bool};
    case DTypeRule::FloatCompare: return {true, floating, DType::Bool};
    case DTypeRule::Logical: return {true, DType::Bool, DType::Bool};
    case DTypeRule::Select: return {operands[0].dtype == DType::Bool, common, common};
    case DTypeRule::RandomFloat32: return {common == DType::Int64, DType::Int64, DType::Float32};
    case DTypeRule::RandomFloat64: return {common == DType::Int64, DType::Int64, DType::Float64};
    case DTypeRule::RandomInt64: return {common == DType::Int64, DType::Int64, DType::Int64};
    case DTypeRule::None: break;
  }
  return {false, common, common};
}

}  // namespace sinter::inline v1
