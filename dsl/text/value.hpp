// The value of a part of a text, once its names have values.
#pragma once
#include <vector>

#include <sinter/dsl/operand_info.hpp>
#include <sinter/dsl/parse.hpp>
#include "names.hpp"
#include "text_range.hpp"

namespace sinter::inline v1::detail {

struct TextValue {
  enum class Kind { Tensor, Scalar, Number, List, Slice, Ellipsis, DType, None };
  Kind kind = Kind::None;
  jit::LazyRef node{};  // for a tensor, and for a scalar: a number from operations, or an operand
  Shape shape{};        // for a tensor
  TextNumber number{};  //
  std::vector<TextValue>
      items{};  // the elements of a list; for a slice start, stop and step, each of which may be None
  sinter::DType dtype{};
  TextRange place{};

  bool is_tensor() const noexcept { return kind == Kind::Tensor; }
  bool is_operand() const noexcept { return kind <= Kind::Number; }
  Lazy<AnyType> lazy() const { return Lazy<AnyType>(node); }

  static TextValue tensor(Lazy<AnyType> e, Shape shape);
  /// For an expression of tensors.
  static TextValue tensor(const Lazy<AnyType>& e) { return tensor(e, shape_of(e)); }
  static TextValue of(const TextNumber& n);
};

/// "a list", for messages.
std::string describe(const TextValue& v);
/// The operand as a lazy node. The value must be is_operand().
jit::LazyRef node_of(const TextValue& v);

/// The arguments of a call by parameter; null if an argument is omitted or None.
class Arguments {
 public:
  /// Throws ParseError for too many, unknown or repeated ones. `dim` is an alias of `axis`, `keepdims` of `keepdim`.
  Arguments(std::string_view text, TextRange call, std::string_view name, std::span<const std::string_view> parameters,
            std::span<const TextValue> values, std::span<const std::string_view> keywords);

  const TextValue* operator[](std::size_t parameter) const noexcept { return given_[parameter]; }
  std::size_t size() const noexcept { return given_.size(); }
  /// These throw ParseError for an argument of another kind, and, if there is no default, for a missing one.
  const TextValue& required(std::size_t parameter) const;
  const TextValue& tensor(std::size_t parameter) const;
  const TextValue& operand(std::size_t parameter) const;
  Axes axes(std::size_t parameter, const Axes& fallback = {}) const;
  bool flag(std::size_t parameter) const;
  std::int64_t integer(std::size_t parameter) const;
  std::int64_t integer(std::size_t parameter, std::int64_t fallback) const;
  double real(std::size_t parameter, double fallback) const;
  Shape shape(std::size_t parameter) const;
  [[noreturn]] void wrong(std::size_t parameter, std::string_view expected) const;

 private:
  std::size_t place_of(std::string_view keyword, TextRange place) const;

  std::string_view text_, name_;
  TextRange call_;
  std::span<const std::string_view> parameters_;
  std::vector<const TextValue*> given_;
};

/// A function that is not in the tables of operations.
struct TextFunction {
  std::string_view name;
  std::vector<std::string_view> parameters;
  std::vector<std::string_view> defaults;  // for the last parameters, in Python syntax
  std::string_view doc;
  TextValue (*call)(const Arguments& arguments);
  bool gathers = false;  // f(x, 2, 3) is f(x, (2, 3))
};
/// Norms, matrix products, max and min.
std::span<const TextFunction> text_functions();
/// Views and gathers.
std::span<const TextFunction> text_views();
/// Indexes the first value with the others: x[1, 2:, None]. Throws ParseError.
TextValue indexed(std::span<const TextValue> values, std::string_view text);

/// Applies an operation to operands, or a reduction along axes.
TextValue applied(Op op, std::span<const TextValue> operands);
TextValue reduced(Op op, const Arguments& arguments);
/// The parameters of a reduction.
std::vector<std::string_view> parameters_of_reduction(Op op);

}  // namespace sinter::inline v1::detail
