// What a text says, before it is known what its names stand for.
#pragma once
#include <string>
#include <vector>

#include "number.hpp"
#include "place.hpp"

namespace sinter::inline v1::detail {

/// A node takes its operands, the nodes before it, from a stack: a tree of any depth is walked without recursion.
struct SyntaxNode {
  enum class Kind { Number, Name, Operator, Call, List, Index, Slice, Ellipsis };
  Kind kind;
  Place place;
  Op op{};                                   // of an operator
  std::string_view name{};                   // of a name or a call
  TextNumber number{};                       //
  int operands = 0;                          // which it takes
  bool is_method = false;                    // the first argument stands before the dot
  std::vector<std::string_view> keywords{};  // of the last arguments
};

/// The nodes' names are parts of the text.
struct SyntaxTree {
  std::string text;
  std::vector<SyntaxNode> nodes;
  std::vector<std::string> names;  // that need operands

  explicit SyntaxTree(std::string_view t) : text(t) {}
  SyntaxTree(const SyntaxTree&) = delete;
  SyntaxTree& operator=(const SyntaxTree&) = delete;
};

/// Throws ParseError.
std::shared_ptr<const SyntaxTree> read_expression(std::string_view text);

/// How deep parentheses, calls, signs and powers may be in one another.
inline constexpr int max_nesting = 200;
/// Numbers, names, operators, calls and lists of a text; calls and indices among them, each of which may look at all
/// that is below it.
inline constexpr std::size_t max_nodes = 131'072, max_calls = 4096;
/// Of a call, and of a signature.
inline constexpr int max_arguments = 256;

}  // namespace sinter::inline v1::detail
