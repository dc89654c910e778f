// Properties of each operation, from the tables ops.def and reductions.def. The build generates op_list.def and
// reduction_list.def from them, which omit the bodies.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include <sinter/jit/dtype_rule.hpp>
#include <sinter/runtime/dtype.hpp>

namespace sinter::inline v1 {

/// The operations of a graph: six with an attribute, load (whose operands are of two kinds), call, then the tables,
/// then those that are not computed by Sinter's kernels.
enum class Op : std::uint8_t {
  leaf,      // an element of a tensor
  iota,      // the row-major position of the element in a tensor without memory (int64)
  array,     // a tensor that load gathers from: it does not take part in the result's shape
  scalar,    // a value given at evaluation
  constant,  // a value fixed in the expression
  cast,      // conversion to the node's dtype
  load,      // the element of an array at an offset from its first one; of the array's dtype
  call,      // of a device function (device_function.hpp), which says how many operands it has, and their dtypes
#define SINTER_OP(name, arity, rule) name,
#define SINTER_COMPOSITE_OP SINTER_OP
#include <sinter/jit/op_list.def>
#define SINTER_REDUCTION(name, arity, rule) name,
#define SINTER_COMPOSITE_REDUCTION(name, arity, rule, kind) name,
#include <sinter/jit/reduction_list.def>
  matmul,          // matrix product, also of batches, or of matrix and vector: see product.hpp
  broadcast_like,  // the first operand, in the broadcast shape of both operands
};

/// Whether a node of this operation is a leaf; its attribute is the leaf's number.
constexpr bool is_leaf(Op op) noexcept { return op <= Op::array; }
/// Whether it is a leaf that gives each position its own element: not an array, which is gathered from.
constexpr bool is_element_leaf(Op op) noexcept { return op <= Op::iota; }

/// How an operation changes its operand's shape.
enum class Reduction : std::uint8_t {
  None,             // operands broadcast
  Reduces,          // the reduce axes are removed, or stay with an extent of 1
  ShapePreserving,  // the operand's shape: the reduced value is broadcast back over the elements
};

struct OpInfo {
  std::string_view name;
  std::uint8_t arity;
  DTypeRule rule;
  bool is_composite = false;  // executors run the operations of its body instead
  Reduction reduction = Reduction::None;
};

namespace detail {
inline constexpr OpInfo op_info[] = {
    {"leaf", 0, DTypeRule::None},      {"iota", 0, DTypeRule::None},           {"array", 0, DTypeRule::None},
    {"scalar", 0, DTypeRule::None},    {"constant", 0, DTypeRule::None},       {"cast", 1, DTypeRule::None},
    {"load", 2, DTypeRule::None},      {"call", 0, DTypeRule::None},
#define SINTER_OP(name, arity, rule) {#name, arity, DTypeRule::rule},
#define SINTER_COMPOSITE_OP(name, arity, rule) {#name, arity, DTypeRule::rule, true},
#include <sinter/jit/op_list.def>
#define SINTER_REDUCTION(name, arity, rule) {#name, arity, DTypeRule::rule, false, Reduction::Reduces},
#define SINTER_COMPOSITE_REDUCTION(name, arity, rule, kind) {#name, arity, DTypeRule::rule, true, Reduction::kind},
#include <sinter/jit/reduction_list.def>
    {"matmul", 2, DTypeRule::Product}, {"broadcast_like", 2, DTypeRule::None},
};
}  // namespace detail

/// The elementwise operations range from first_table_op to below op_count; reductions follow.
inline constexpr Op first_table_op = Op::add, first_reduction = Op::sum;
inline constexpr int op_count = static_cast<int>(first_reduction);
inline constexpr int all_op_count = std::size(detail::op_info);
inline constexpr int max_arity = 8;  // of a call: the parameters of a derivative
static_assert([] {
  for (const OpInfo& about : detail::op_info)
    if (about.arity > max_arity) return false;
  return true;
}());

constexpr const OpInfo& info(Op op) noexcept { return detail::op_info[static_cast<std::uint8_t>(op)]; }
constexpr std::string_view name(Op op) noexcept { return info(op).name; }
/// Whether it computes random numbers; operand 0 is the element's index in the draw.
constexpr bool is_random(Op op) noexcept { return op >= Op::random_uniform && op <= Op::random_bits; }
/// A phrase that says what it computes; empty for operations without a public name.
std::string_view doc(Op op) noexcept;
/// The tokens of its body in the table (for a reduction, the body that combines two partial results), or empty.
std::string_view body(Op op) noexcept;
constexpr bool is_composite(Op op) noexcept { return info(op).is_composite; }
/// Whether it combines elements along axes; its node's attribute is then a ReduceAxes.
constexpr bool is_reduction(Op op) noexcept { return info(op).reduction != Reduction::None; }
/// Whether its result's shape may differ from its operands' broadcast shape.
constexpr bool changes_shape(Op op) noexcept { return is_reduction(op) || op == Op::matmul; }

namespace detail {
struct ComplexInfo {
  bool takes = false;       // supports complex operands
  bool gives_real = false;  // and its result is then real
};
struct ComplexTable {
  ComplexInfo of[all_op_count] = {};
};
inline constexpr ComplexTable complex_info = [] {
  ComplexTable table;
#define SINTER_OP(name, arity, rule)
#define SINTER_COMPLEX(name) table.of[static_cast<std::uint8_t>(Op::name)] = {true, false};
#define SINTER_COMPLEX_TO_REAL(name) table.of[static_cast<std::uint8_t>(Op::name)] = {true, true};
#include <sinter/jit/op_list.def>
#define SINTER_REDUCTION(name, arity, rule)
#define SINTER_COMPLEX(name) table.of[static_cast<std::uint8_t>(Op::name)] = {true, false};
#include <sinter/jit/reduction_list.def>
  table.of[static_cast<std::uint8_t>(Op::matmul)] = {true, false};
  return table;
}();
}  // namespace detail

/// Whether an operation supports complex operands, and whether its result is then real.
constexpr bool takes_complex(Op op) noexcept { return detail::complex_info.of[static_cast<std::uint8_t>(op)].takes; }
constexpr bool gives_real(Op op) noexcept { return detail::complex_info.of[static_cast<std::uint8_t>(op)].gives_real; }

/// Whether an operation supports uint64: the low 64 bits of its result depend on its operands' bits only, so int64
/// computes it.
constexpr bool takes_uint64(Op op) noexcept {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::neg:
    case Op::square:
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::bitwise_not:
    case Op::eq:
    case Op::ne:
    case Op::where:
    case Op::positive:
    case Op::stop_gradient:
    case Op::sum:
    case Op::prod:
    case Op::count: return true;
    default: return false;
  }
}

/// One operand as promotion sees it: a tensor's dtype counts in full, a C++ scalar raises only the category.
struct OperandType {
  DType dtype;
  bool weak = false;  // a C++ scalar of default_dtype(category)
};

/// Types of one operation. `ok` is false if the operation does not support these operands.
struct OpTypes {
  bool ok;
  DType compute;  // dtype that operands convert to (except the first one of where, which is bool)
  DType result;
};

/// The common dtype of tensors and scalars. With scalars only, the promotion of their defaults.
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

namespace detail {

/// The types by the operation's rule.
constexpr OpTypes rule_types(Op op, std::span<const OperandType> operands) noexcept {
  const DTypeRule rule = info(op).rule;
  const bool reduces = is_reduction(op);  // the second operand is a parameter of the reduction
  const bool first = (rule == DTypeRule::First || rule == DTypeRule::FirstNumber || reduces) && !operands[0].weak;
  const DType common = common_type(rule == DTypeRule::Select ? operands.subspan(1)
                                   : first                   ? operands.first(1)
                                                             : operands)
                           .dtype;
  const DType floating = category(common) >= Category::Float ? common : DType::Float32;
  const DType wide = is_complex(common) ? DType::Complex128 : DType::Float64;
  switch (rule) {
    case DTypeRule::Same:
    case DTypeRule::First: return {true, common, common};
    case DTypeRule::FirstNumber:
    case DTypeRule::Number: return {common != DType::Bool, common, common};
    case DTypeRule::Integer: return {category(common) < Category::Float, common, common};
    case DTypeRule::IntegerOnly: return {category(common) == Category::Int, common, common};
    case DTypeRule::Float: return {true, floating, floating};
    case DTypeRule::WideFloat: return {category(common) == Category::Float && !is_stored_only(common), common, common};
    case DTypeRule::Float64: return {true, wide, wide};
    case DTypeRule::FloatOnly: return {category(common) >= Category::Float, floating, floating};
    case DTypeRule::RealPart: return {true, common, common};
    case DTypeRule::Complex: return {is_complex(common), common, common};
    case DTypeRule::ComplexParts: {
      const DType part = common == DType::Float64 ? DType::Float64 : DType::Float32;
      return {category(common) == Category::Float, part, complex_of(part)};
    }
    case DTypeRule::Compare: return {true, common, DType::Bool};
    case DTypeRule::FloatCompare: return {true, floating, DType::Bool};
    case DTypeRule::Logical: return {true, DType::Bool, DType::Bool};
    case DTypeRule::Select: return {operands[0].dtype == DType::Bool, common, common};
    case DTypeRule::Int64ToFloat32: return {common == DType::Int64, DType::Int64, DType::Float32};
    case DTypeRule::Int64ToFloat64: return {common == DType::Int64, DType::Int64, DType::Float64};
    case DTypeRule::Int64: return {common == DType::Int64, DType::Int64, DType::Int64};
    case DTypeRule::Sum: {
      const bool widens = category(common) < Category::Float && common != DType::UInt64;
      const DType sum = widens ? DType::Int64 : common;
      return {true, sum, sum};
    }
    case DTypeRule::Index: return {common != DType::Bool && !is_complex(common), common, DType::Int64};
    case DTypeRule::Count: return {true, common, DType::Int64};
    case DTypeRule::Nonzero: return {true, DType::Bool, DType::Int64};
    case DTypeRule::Product: {
      const bool alike = !operands[0].weak && !operands[1].weak && operands[0].dtype == operands[1].dtype;
      return {alike && category(common) >= Category::Float, common, common};
    }
    case DTypeRule::None: break;
  }
  return {false, common, common};
}

}  // namespace detail

/// The only place that decides dtypes; used at compile time by dsl/ and at run time by the recorder.
constexpr OpTypes op_types(Op op, std::span<const OperandType> operands) noexcept {
  OpTypes types = detail::rule_types(op, operands);
  if (is_complex(types.compute)) {
    types.ok = types.ok && takes_complex(op);
    if (gives_real(op)) types.result = real_of(types.compute);
  }
  if (types.compute == DType::UInt64) {
    types.ok = types.ok && takes_uint64(op);
    for (const OperandType& o : operands) types.ok = types.ok && (o.weak || !is_signed(o.dtype));
  }
  return types;
}

}  // namespace sinter::inline v1
