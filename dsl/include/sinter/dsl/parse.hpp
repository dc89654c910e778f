// Expressions written as text, for tools and other languages: sn::parse("exp(z + 2) * y", {{"z", z}, {"y", y}}).
//
// The syntax is Python's: names, numbers (ints, floats, 2j, True, inf, nan, pi), operators with Python's precedence,
// calls f(x, axis=-1), methods x.f(axis=-1) and indexing x[1:, None]. The functions are those of ops.def,
// reductions.def, normalize.hpp and matmul.hpp, views, and casts: x.to(float16), float(x). Numbers raise the category
// of the tensors they meet and change nothing else; dtypes promote as in typed expressions.
#pragma once
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/dsl/lazy.hpp>

namespace sinter::inline v1 {

/// A text that is not a valid expression or signature. The message shows where.
class ParseError : public Error {
 public:
  ParseError(const std::string& what, std::size_t position) : Error(what), position_(position) {}
  /// The byte offset of the error in the text.
  std::size_t position() const noexcept { return position_; }

 private:
  std::size_t position_;
};

/// The value of a name in a text: a tensor, an expression or a C++ number.
struct NamedOperand {
  template <class A>
    requires detail::operand<A>
  NamedOperand(std::string n, const A& a)
      : name(std::move(n)), value(detail::lazy_node(a)), is_number(!expression<A>) {}

  std::string name;
  Lazy<AnyType> value;
  bool is_number;
};

namespace detail {
struct SyntaxTree;
}

/// A parsed text, for any operands. Copies are cheap.
class ParsedExpression {
 public:
  /// Throws ParseError, also beyond these limits: one mebibyte; 131,072 numbers, names, operators and calls; 4096 calls
  /// and indices; 200 levels of nesting. Uses little stack.
  explicit ParsedExpression(std::string_view text);

  const std::string& text() const noexcept;
  /// The names that need operands, in the order of their first use. A name with a built-in meaning (pi, inf, float32)
  /// may be omitted from the operands.
  const std::vector<std::string>& names() const noexcept;

  /// The expression of these operands; unused operands are ignored. Like any Lazy, its oldest part is evaluated past
  /// jit::max_lazy_nodes operations. Throws ParseError for a name without an operand, an unknown function, and a
  /// missing or extra argument; and what the operations throw (DTypeError, ShapeError, DeviceError, IndexError) with
  /// its place in the text.
  Lazy<AnyType> operator()(std::span<const NamedOperand> operands) const;
  Lazy<AnyType> operator()(std::initializer_list<NamedOperand> operands) const {
    return (*this)(std::span(operands.begin(), operands.size()));
  }

 private:
  std::shared_ptr<const detail::SyntaxTree> tree_;
};

/// Parses a text and applies it to these operands. Throws what ParsedExpression throws.
Lazy<AnyType> parse(std::string_view text, std::span<const NamedOperand> operands);
inline Lazy<AnyType> parse(std::string_view text, std::initializer_list<NamedOperand> operands) {
  return parse(text, std::span(operands.begin(), operands.size()));
}

/// An extent in a signature: a number, a symbol with one value throughout the signature, or `*` for any extent.
struct SymbolicExtent {
  std::string symbol;        // "*" for any extent; empty for a number
  std::int64_t extent = -1;  // if it is a number

  friend bool operator==(const SymbolicExtent&, const SymbolicExtent&) = default;
};

/// The type of an argument: "z: f32[n, 4]". Without brackets, as in "s: f32", it is a number.
struct ArgumentType {
  std::string name;
  DType dtype;
  bool is_number = false;
  std::vector<SymbolicExtent> shape{};

  friend bool operator==(const ArgumentType&, const ArgumentType&) = default;
};

/// Parses "z: f32[n], y: f32[n, 4], w: bf16[*, n]": names, dtypes (float32 or f32; bool) and shapes. Throws ParseError,
/// also for a repeated name.
std::vector<ArgumentType> parse_signature(std::string_view text);
/// In the syntax of parse_signature.
std::string to_string(const ArgumentType& argument);
/// The values of a signature's symbols for these tensors, one tensor for each argument that is not a number. Throws
/// DTypeError, and ShapeError if a tensor's axes or extents differ, or if two tensors give a symbol different values.
std::map<std::string, std::int64_t> match(std::span<const ArgumentType> signature, std::span<const AnyTensor> tensors);

}  // namespace sinter::inline v1
