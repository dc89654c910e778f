// Expressions written as text, for tools and other languages: sn::parse("exp(z + 2) * y", {{"z", z}, {"y", y}}).
//
// The text is Python's: names, numbers (ints, floats, 2j, True, inf, nan, pi), operators with Python's precedence,
// calls f(x, axis=-1), methods x.f(axis=-1) and elements x[1:, None]. What may be called is what ops.def and
// reductions.def list, with what normalize.hpp and matmul.hpp have, views, and casts: x.to(float16), float(x). Numbers
// lift the category of the tensors beside them and nothing else; dtypes promote as in typed expressions.
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

/// A text that is no expression, or no signature. The message shows the place.
class ParseError : public Error {
 public:
  ParseError(const std::string& what, std::size_t position) : Error(what), position_(position) {}
  /// The byte of the text where the error is.
  std::size_t position() const noexcept { return position_; }

 private:
  std::size_t position_;
};

/// What a name in a text stands for: a tensor, an expression or a C++ number.
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

/// A text that has been read, for any operands. Copies are cheap.
class ParsedExpression {
 public:
  /// Throws ParseError, also for more than a mebibyte, 131,072 numbers, names, operators and calls, 4096 calls and
  /// indices, or what is nested deeper than 200 levels. Takes little of the thread's stack.
  explicit ParsedExpression(std::string_view text);

  const std::string& text() const noexcept;
  /// The names that it needs operands for, in the order of their first use. Any of a name that has a meaning of its own
  /// (pi, inf, float32) may be left out.
  const std::vector<std::string>& names() const noexcept;

  /// The expression of these operands; names that it does not use are ignored. It is a Lazy as one grown in C++, whose
  /// oldest part is evaluated past jit::max_lazy_nodes operations. Throws ParseError for a name without an
  /// operand, a function that there is not, an argument that is missing or too many; and what the operations throw -
  /// DtypeError, ShapeError, DeviceError, IndexError - each with its place in the text.
  Lazy<AnyType> operator()(std::span<const NamedOperand> operands) const;
  Lazy<AnyType> operator()(std::initializer_list<NamedOperand> operands) const {
    return (*this)(std::span(operands.begin(), operands.size()));
  }

 private:
  std::shared_ptr<const detail::SyntaxTree> tree_;
};

/// The expression that the text says, of these operands. Throws what ParsedExpression does.
Lazy<AnyType> parse(std::string_view text, std::span<const NamedOperand> operands);
inline Lazy<AnyType> parse(std::string_view text, std::initializer_list<NamedOperand> operands) {
  return parse(text, std::span(operands.begin(), operands.size()));
}

/// An extent in a signature: a number, a symbol that stands for the same number everywhere, or `*` for any.
struct SymbolicExtent {
  std::string symbol;        // "*" for any; empty for a number
  std::int64_t extent = -1;  // of a number

  friend bool operator==(const SymbolicExtent&, const SymbolicExtent&) = default;
};

/// What an argument is: "z: f32[n, 4]". Without brackets, "s: f32", it is a number.
struct ArgumentType {
  std::string name;
  DType dtype;
  bool is_number = false;
  std::vector<SymbolicExtent> shape{};

  friend bool operator==(const ArgumentType&, const ArgumentType&) = default;
};

/// "z: f32[n], y: f32[n, 4], w: bf16[*, n]": names, dtypes (float32 or f32; bool) and shapes. Throws ParseError, also
/// for a name that is there twice.
std::vector<ArgumentType> parse_signature(std::string_view text);
/// As parse_signature reads it.
std::string to_string(const ArgumentType& argument);
/// What the symbols of a signature are for these tensors, one for each argument that is no number. Throws DtypeError,
/// and ShapeError where a tensor has other axes, another extent, or two tensors differ in what a symbol stands for.
std::map<std::string, std::int64_t> match(std::span<const ArgumentType> signature, std::span<const AnyTensor> tensors);

}  // namespace sinter::inline v1
