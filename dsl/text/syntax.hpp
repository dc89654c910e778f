// The syntax tree of a text, before its names have values.
#pragma once
#include <string>
#include <vector>

#include "number.hpp"
#include "text_range.hpp"

namespace sinter::inline v1::detail {

/// A node takes its operands, which are nodes before it, from a stack: a tree of any depth is traversed without
/// recursion.
struct SyntaxNode {
  enum class Kind { Number, Name, Operator, Call, List, Index, Slice, Ellipsis };
  Kind kind;
  TextRange place;
  Op op{};                                   // for an operator
  std::string_view name{};                   // for a name or a call
  TextNumber number{};                       //
  int operands = 0;                          // number of operands
  bool is_method = false;                    // the first argument is the object before the dot
  std::vector<std::string_view> keywords{};  // for the last arguments
};

/// The nodes' names are parts of the text.
struct SyntaxTree {
  std::string text;
  std::vector<SyntaxNode> nodes;
  std::vector<std::string> names;  // the names that need operands

  explicit SyntaxTree(std::string_view t) : text(t) {}
  SyntaxTree(const SyntaxTree&) = delete;
  SyntaxTree& operator=(const SyntaxTree&) = delete;
};

/// Throws ParseError.
std::shared_ptr<const SyntaxTree> read_expression(std::string_view text);

/// How deeply parentheses, calls, signs and powers may be nested.
inline constexpr int max_nesting = 200;
/// Limits on all numbers, names, operators, calls and lists of a text, and on its calls and indices, each of which may
/// inspect everything below it.
inline constexpr std::size_t max_nodes = 131'072, max_calls = 4096;
/// For a call, and for a signature.
inline constexpr int max_arguments = 256;

}  // namespace sinter::inline v1::detail
