// The value of a part of a text, once its names have values.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include <sinter/dsl/operand_info.hpp>
#include <sinter/dsl/parse.hpp>
#include <sinter/dsl/values_and_indices.hpp>
#include "names.hpp"
#include "text_range.hpp"

namespace sinter::inline v1 {
class Generator;
}

namespace sinter::inline v1::detail {

struct TextValue {
  enum class Kind { Tensor, Scalar, Number, List, Slice, Ellipsis, DType, Device, Text, Generator, Other, None };
  Kind kind = Kind::None;
  jit::LazyRef node{};  // for a tensor, and for a scalar: a number from operations, or an operand
  Shape shape{};        // for a tensor
  TextNumber number{};  //
  std::vector<TextValue>
      items{};  // the elements of a list; for a slice start, stop and step, each of which may be None
  sinter::DType dtype{};
  TextRange place{};
  runtime::TensorRef array{};  // of a tensor in memory, which functions may write to; null for an expression
  // Arguments from other languages; texts have none of these. One of Kind::Other has no value: its text describes it.
  sinter::Device device{};
  std::string_view text{};
  const sinter::Generator* generator = nullptr;

  bool is_tensor() const noexcept { return kind == Kind::Tensor; }
  bool is_operand() const noexcept { return kind <= Kind::Number; }
  Lazy<AnyType> lazy() const { return Lazy<AnyType>(node); }

  static TextValue tensor(Lazy<AnyType> e, Shape shape);
  /// For an expression of tensors.
  static TextValue tensor(const Lazy<AnyType>& e) { return tensor(e, shape_of(e)); }
  /// A tensor in memory.
  static TextValue tensor(const AnyTensor& t);
  static TextValue of(const TextNumber& n);
  static TextValue list(std::vector<TextValue> items);
};

/// "a list", for messages.
std::string describe(const TextValue& v);
/// The operand as a lazy node. The value must be is_operand().
jit::LazyRef node_of(const TextValue& v);
/// Calls f with the number in its C++ type, or with the expression.
template <class F>
decltype(auto) with_operand(const TextValue& v, F f) {
  if (v.kind != TextValue::Kind::Number) return f(Lazy<AnyType>(v.node));
  switch (v.number.category) {
    case Category::Bool: return f(v.number.integer != 0);
    case Category::Int: return f(v.number.integer);
    case Category::Float: return f(v.number.value.real());
    case Category::Complex: break;
  }
  return f(v.number.value);
}

/// The arguments of a call by parameter; null if an argument is omitted or None.
class Arguments {
 public:
  /// Throws ParseError for too many, unknown or repeated ones. `dim`, `dims` and `axes` are aliases of `axis`,
  /// `keepdims` of `keepdim`, `shape` of `size`.
  Arguments(std::string_view text, TextRange call, std::string_view name, const TextParameters& parameters,
            std::span<const TextValue> values, std::span<const std::string_view> keywords);

  const TextValue* operator[](std::size_t parameter) const noexcept {
    const TextValue* const value = given_[parameter];
    return value && value->kind != TextValue::Kind::None ? value : nullptr;
  }
  std::size_t size() const noexcept { return given_.size(); }
  std::string_view name() const noexcept { return name_; }
  /// These throw ParseError for an argument of another kind, and, if there is no default, for a missing one.
  const TextValue& required(std::size_t parameter) const;
  const TextValue& tensor(std::size_t parameter) const;
  const TextValue& operand(std::size_t parameter) const;
  /// A tensor in memory, which is written to.
  AnyTensor target(std::size_t parameter) const;
  /// A list of tensors.
  std::span<const TextValue> tensors(std::size_t parameter) const;
  Axes axes(std::size_t parameter, const Axes& fallback = {}) const;
  bool flag(std::size_t parameter, bool fallback = false) const;
  std::int64_t integer(std::size_t parameter) const;
  std::int64_t integer(std::size_t parameter, std::int64_t fallback) const;
  double real(std::size_t parameter, double fallback) const;
  Shape shape(std::size_t parameter) const;
  DType dtype(std::size_t parameter, DType fallback) const;
  Device device(std::size_t parameter, Device fallback = {}) const;
  std::string_view text(std::size_t parameter, std::string_view fallback) const;
  /// Null if it is omitted.
  const Generator* generator(std::size_t parameter) const;
  [[noreturn]] void wrong(std::size_t parameter, std::string_view expected) const;
  /// The same, for a list of which this element is wrong.
  [[noreturn]] void wrong(std::size_t parameter, std::string_view expected, const TextValue& element) const;

 private:
  std::size_t place_of(std::string_view keyword, TextRange place) const;
  [[noreturn]] void throw_wrong(std::size_t parameter, std::string_view expected, std::string_view but) const;

  std::string_view text_, name_;
  TextRange call_;
  const TextParameters& parameters_;
  std::vector<const TextValue*> given_;
};

/// A function that is not in the tables of operations.
struct TextFunction {
  std::string_view name;
  TextParameters parameters;
  std::string_view doc;
  TextValue (*call)(const Arguments& arguments);
  /// What a call from Python returns: Expression; Tensor; Operand, which is a tensor for a tensor and an expression for
  /// an expression; several of one kind as tuple[Operand, ...]; or results by name, "values, indices". Alternatives,
  /// which depend on the second parameter, are divided by "|".
  std::string_view returns = "Expression";
};
/// Norms, matrix products, and operations with further arguments.
std::span<const TextFunction> text_functions();
/// Losses, dense layers, and what they are made of.
std::span<const TextFunction> loss_functions();
/// Views and gathers.
std::span<const TextFunction> text_views();
// Functions that evaluate, or have several results; texts cannot contain them.
std::span<const TextFunction> factory_functions();
std::span<const TextFunction> random_functions();
std::span<const TextFunction> join_functions();
std::span<const TextFunction> order_functions();
std::span<const TextFunction> write_functions();
/// Indexes the first value with the others: x[1, 2:, None]. Throws ParseError.
TextValue indexed(std::span<const TextValue> values, std::string_view text);

/// The shape that operands broadcast to. Throws ShapeError.
Shape common_shape(std::string_view operation, std::span<const TextValue> operands);
/// Applies an operation to operands, or a reduction along axes.
TextValue applied(Op op, std::span<const TextValue> operands);
TextValue reduced(Op op, const Arguments& arguments);
/// The parameters of a reduction.
const TextParameters& parameters_of_reduction(Op op);
/// x in another dtype.
TextValue cast_value(const TextValue& x, DType dtype);

// Results of functions.
inline TextValue value_of(const AnyTensor& t) { return TextValue::tensor(t); }
template <expression E>
  requires(!std::is_same_v<E, AnyTensor>)
TextValue value_of(const E& e) {
  return TextValue::tensor(Lazy<AnyType>(lazy_node(e)));
}
template <class Values>
TextValue value_of(const ValuesAndIndices<AnyType, AnyDevice, Values>& found) {
  return TextValue::list({value_of(found.values), value_of(AnyTensor(found.indices))});
}
template <class E>
TextValue value_of(const std::vector<E>& parts) {
  std::vector<TextValue> items;
  for (const E& part : parts) items.push_back(value_of(part));
  return TextValue::list(std::move(items));
}

/// The result of f for a tensor in memory, or for an expression.
template <class F>
TextValue of_source(const TextValue& x, F f) {
  return x.array ? value_of(f(AnyTensor(x.array))) : value_of(f(x.lazy()));
}
/// The array of a tensor in memory, also of a text's operand; null for an expression.
runtime::TensorRef array_in(const TextValue& x);
/// As of_source, for an f that reads elements at computed positions.
template <class F>
TextValue of_array(const TextValue& x, F f) {
  if (const runtime::TensorRef array = array_in(x)) return value_of(f(AnyTensor(array)));
  return value_of(f(x.lazy()));
}

}  // namespace sinter::inline v1::detail
