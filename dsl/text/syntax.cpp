#include "syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <runtime/text.hpp>
#include "lexer.hpp"
#include "names.hpp"

namespace sinter::inline v1::detail {
namespace {

struct BinaryOperator {
  std::string_view symbol;
  int precedence;  // higher binds tighter
  Op op;
};
constexpr BinaryOperator binary_operators[] = {{"|", 1, Op::bitwise_or},
                                               {"^", 2, Op::bitwise_xor},
                                               {"&", 3, Op::bitwise_and},
                                               {"<<", 4, Op::bitwise_left_shift},
                                               {">>", 4, Op::bitwise_right_shift},
                                               {"+", 5, Op::add},
                                               {"-", 5, Op::sub},
                                               {"*", 6, Op::mul},
                                               {"/", 6, Op::div},
                                               {"//", 6, Op::floor_divide},
                                               {"%", 6, Op::remainder},
                                               {"@", 6, Op::matmul}};
constexpr BinaryOperator comparisons[] = {{"==", 0, Op::eq}, {"!=", 0, Op::ne}, {"<", 0, Op::lt},
                                          {"<=", 0, Op::le}, {">", 0, Op::gt},  {">=", 0, Op::ge}};

const BinaryOperator* find(std::span<const BinaryOperator> operators, const Token& token) {
  for (const BinaryOperator& o : operators)
    if (token.is(o.symbol)) return &o;
  return nullptr;
}

constexpr int of_not = -1;  // whose operand is a whole comparison
constexpr int of_comparison = 0, of_sign = 7, of_power = 8;
constexpr BinaryOperator signs[] = {
    {"-", of_sign, Op::neg}, {"+", of_sign, Op::positive}, {"~", of_sign, Op::bitwise_not}};

/// A construct waiting for its end: an operator for its last operand, a bracket for its closing one.
struct Open {
  enum class Kind { Text, Operator, Parenthesis, Call, Index };
  Kind kind;
  Token token{};      // its first token
  SyntaxNode node{};  // the node that it becomes
  int precedence = 0;
  bool is_list = false;    // for a parenthesis
  Token part{};            // for a call or an index: the first token of its last part
  std::size_t before = 0;  // for a call: number of nodes before its last argument
  bool is_named = false;   // for a call: its last argument is a keyword argument
  int bounds = 0;          // for an index: number of bounds in its last part
};

/// Operator-precedence parser with an explicit stack, so nesting takes no more of the thread's stack.
class Parser {
  using Kind = SyntaxNode::Kind;

 public:
  explicit Parser(SyntaxTree& tree) : tree_(tree), lexer_(tree.text) {}

  void read() {
    if (now().kind == Token::Kind::End) fail("the text is empty: an expression is expected, as in exp(x) + 1");
    begin({.kind = Open::Kind::Text});
    while (!open_.empty())
      if (expects_operand_)
        operand();
      else
        after_operand();
    collect_names();
  }

 private:
  const Token& now() const noexcept { return lexer_.now(); }
  [[noreturn]] void fail(const std::string& what) { throw_at(tree_.text, now().place(), what); }
  [[noreturn]] void unexpected(std::string_view expected) {
    if (now().is_word("and") || now().is_word("or"))
      fail(fmt::format("'{}' takes single bools: write {} between comparisons in parentheses, as in (a < b) {} (b < c)",
                       now().text, now().text == "and" ? "&" : "|", now().text == "and" ? "&" : "|"));
    if (now().is_word("if")) fail("to choose for each element write where(condition, a, b)");
    if (now().is("=")) fail("'=' names an argument of a call: equality is ==");
    fail(fmt::format("{} is expected, but got {}", expected, to_string(now())));
  }
  void expect(std::string_view symbol, std::string_view what) {
    if (!now().is(symbol)) unexpected(what);
    lexer_.take();
  }
  bool took(std::string_view symbol) {
    const bool is_here = now().is(symbol);
    if (is_here) lexer_.take();
    return is_here;
  }

  /// Binary operators except ** wait only for those that bind tighter, which are few.
  static bool nests(const Open& o) noexcept {
    return o.kind != Open::Kind::Operator || o.precedence == of_not || o.precedence >= of_sign;
  }
  void begin(Open open) {
    if (nests(open) && ++depth_ > max_nesting)
      fail(fmt::format("this is nested deeper than {} levels: give a part of it its own name", max_nesting));
    open_.push_back(std::move(open));
    expects_operand_ = true;
  }
  void begin_operator(Op op, int precedence, int operands) {
    const Token token = lexer_.take();
    begin({.kind = Open::Kind::Operator,
           .node = {.kind = Kind::Operator, .place = token.place(), .op = op, .operands = operands},
           .precedence = precedence});
  }
  void begin_call(const Token& name, bool is_method) {
    lexer_.take();
    begin({.kind = Open::Kind::Call,
           .node = {.kind = Kind::Call,
                    .place = name.place(),
                    .name = name.text,
                    .operands = is_method,
                    .is_method = is_method}});
    begin_argument();
  }
  void push(SyntaxNode node) {
    const auto refuse = [&](std::size_t most, std::string_view of_what) {
      throw_at(tree_.text, node.place,
               fmt::format("a text has at most {} {}: parse it in parts, and give each a name", most, of_what));
    };
    if (tree_.nodes.size() == max_nodes) refuse(max_nodes, "numbers, names, operators and calls");
    if ((node.kind == Kind::Call || node.kind == Kind::Index) && ++calls_ > max_calls)
      refuse(max_calls, "calls and indices");
    tree_.nodes.push_back(std::move(node));
  }
  /// Makes the innermost open construct an operand.
  void end(bool becomes_node = true) {
    depth_ -= nests(open_.back());
    if (becomes_node) push(std::move(open_.back().node));
    open_.pop_back();
    expects_operand_ = false;
  }
  bool waits_for(int precedence) const noexcept {
    return open_.back().kind == Open::Kind::Operator && open_.back().precedence >= precedence;
  }
  void end_operators(int precedence) {
    while (waits_for(precedence)) end();
  }
  void add(SyntaxNode node) {
    push(std::move(node));
    expects_operand_ = false;
  }
  void add_none() { add({.kind = Kind::Name, .place = now().place(), .name = "None"}); }

  void operand() {
    if (now().is_word("not") && !waits_for(of_comparison)) return begin_operator(Op::logical_not, of_not, 1);
    if (const BinaryOperator* o = find(signs, now())) return begin_operator(o->op, of_sign, 1);
    const Token token = now();
    if (token.needs_minus) {
      least_integer();
    } else if (token.kind == Token::Kind::Number) {
      lexer_.take();
      add({.kind = Kind::Number, .place = token.place(), .number = token.number});
    } else if (token.kind == Token::Kind::Name && !is_keyword(token.text)) {
      lexer_.take();
      if (now().is("(")) return begin_call(token, false);
      add({.kind = Kind::Name, .place = token.place(), .name = token.text});
    } else if (token.is("(") || token.is("[")) {
      lexer_.take();
      begin({.kind = Open::Kind::Parenthesis,
             .token = token,
             .node = {.kind = Kind::List, .place = token.place()},
             .is_list = token.is("[")});
      if (now().is(closing(token))) open_.back().is_list = true, end_parenthesis();
    } else {
      unexpected("a number, a name or '('");
    }
  }

  /// -9223372036854775808; nothing may bind tighter to its digits than the minus.
  void least_integer() {
    const Token digits = lexer_.take();
    const Open& minus = open_.back();
    if (minus.kind != Open::Kind::Operator || minus.node.op != Op::neg || now().is("**") || now().is(".") ||
        now().is("["))
      throw_too_large(tree_.text, digits);
    const TextRange place = minus.node.place;
    end(false);
    TextNumber number = TextNumber::of(digits.number.integer);
    add({.kind = Kind::Number, .place = place, .number = number});
  }

  void after_operand() {
    if (now().is(".")) return method();
    if (now().is("[")) {
      const Token token = lexer_.take();
      begin({.kind = Open::Kind::Index, .node = {.kind = Kind::Index, .place = token.place(), .operands = 1}});
      return index_parts();
    }
    if (now().is("**")) return begin_operator(Op::pow, of_power, 2);
    if (const BinaryOperator* o = find(binary_operators, now())) {
      end_operators(o->precedence);
      return begin_operator(o->op, o->precedence, 2);
    }
    if (const BinaryOperator* o = find(comparisons, now())) {
      end_operators(of_comparison + 1);
      if (waits_for(of_comparison)) fail("a < b < c takes single bools: write (a < b) & (b < c)");
      return begin_operator(o->op, of_comparison, 2);
    }
    end_operators(of_not);
    end_expression();
  }
  void method() {
    lexer_.take();
    if (now().kind != Token::Kind::Name) unexpected("the name of a method");
    const Token name = lexer_.take();
    if (now().is("(")) return begin_call(name, true);
    if (name.text != "T") unexpected(fmt::format("'(' after the method's name, .{}()", runtime::shortened(name.text)));
    add({.kind = Kind::Call, .place = name.place(), .name = "t", .operands = 1, .is_method = true});
  }
  void end_expression() {
    switch (open_.back().kind) {
      case Open::Kind::Text:
        if (now().kind != Token::Kind::End) unexpected("an operator, or the end");
        return end(false);
      case Open::Kind::Parenthesis: return end_item();
      case Open::Kind::Call: return end_argument();
      case Open::Kind::Index:
        ++open_.back().bounds;
        if (!index_bounds()) return;
        return took(",") ? index_parts() : end_index();
      case Open::Kind::Operator: return;
    }
  }

  static std::string_view closing(const Token& open) { return open.is("(") ? ")" : "]"; }
  /// (a) is a; (a, b), (a,), [a] and () are lists.
  void end_item() {
    Open& o = open_.back();
    ++o.node.operands;
    if (took(",")) {
      o.is_list = true;
      if (!now().is(closing(o.token))) {
        expects_operand_ = true;
        return;
      }
    }
    end_parenthesis();
  }
  void end_parenthesis() {
    const std::string_view close = closing(open_.back().token);
    expect(close, fmt::format("',' or '{}'", close));
    end(open_.back().is_list);
  }

  void begin_argument() {
    Open& call = open_.back();
    if (now().is(")")) return end_call();
    call.part = now();
    call.before = tree_.nodes.size();
    call.is_named = false;
    expects_operand_ = true;
  }
  /// f(a, name=b): only the next token shows whether a name is a keyword.
  void end_argument() {
    Open& call = open_.back();
    SyntaxNode& node = call.node;
    const Token& first = call.part;
    if (!call.is_named) {
      if (++node.operands > max_arguments)
        throw_at(tree_.text, first.place(), fmt::format("a call has at most {} arguments", max_arguments));
      const bool is_name = tree_.nodes.size() == call.before + 1 && tree_.nodes.back().kind == Kind::Name;
      if (now().is("=") && is_name && first.text == tree_.nodes.back().name) return begin_named_argument(call);
      if (!node.keywords.empty())
        throw_at(tree_.text, first.place(), "a positional argument comes before keyword arguments");
    }
    if (took(",")) return begin_argument();
    end_call();
  }
  void begin_named_argument(Open& call) {
    tree_.nodes.pop_back();
    if (std::ranges::find(call.node.keywords, call.part.text) != call.node.keywords.end())
      throw_at(tree_.text, call.part.place(),
               fmt::format("the argument '{}' is given twice", runtime::shortened(call.part.text)));
    lexer_.take();
    call.node.keywords.push_back(call.part.text);
    call.is_named = true;
    expects_operand_ = true;
  }
  void end_call() {
    expect(")", "',' or ')'");
    end();
  }

  /// x[1, 2:, ..., None]: up to a part that is an expression.
  void index_parts() {
    do {
      Open& index = open_.back();
      if (now().is("]")) break;
      if (index.node.operands++ > max_arguments) fail(fmt::format("an index has at most {} parts", max_arguments));
      index.part = now();
      index.bounds = 0;
      if (took("...")) {
        add({.kind = Kind::Ellipsis, .place = index.part.place()});
        continue;
      }
      expects_operand_ = true;
      if (!now().is(":")) return;
      add_none();
      index.bounds = 1;
      if (!index_bounds()) return;
    } while (took(","));
    end_index();
  }
  /// Continues after a bound of a slice, or after an index. False if an expression comes next.
  bool index_bounds() {
    Open& index = open_.back();
    if (index.bounds == 1 && !now().is(":")) return true;
    for (; index.bounds < 3; ++index.bounds) {
      if (took(":") && !now().is(":") && !now().is(",") && !now().is("]")) {
        expects_operand_ = true;
        return false;
      }
      add_none();
    }
    add({.kind = Kind::Slice, .place = index.part.place(), .operands = 3});
    return true;
  }
  void end_index() {
    if (open_.back().node.operands == 1) fail("an index is expected, as in x[0] or x[1:, None]");
    expect("]", "',' or ']'");
    end();
  }
  void collect_names() {
    std::unordered_set<std::string_view> known;
    for (const SyntaxNode& node : tree_.nodes)
      if (node.kind == Kind::Name && !has_meaning(node.name) && known.insert(node.name).second)
        tree_.names.emplace_back(node.name);
  }

  SyntaxTree& tree_;
  Lexer lexer_;
  std::vector<Open> open_;
  bool expects_operand_ = true;
  int depth_ = 0;
  std::size_t calls_ = 0;
};

}  // namespace

std::shared_ptr<const SyntaxTree> read_expression(std::string_view text) {
  auto tree = std::make_shared<SyntaxTree>(text);
  Parser(*tree).read();
  return tree;
}

}  // namespace sinter::inline v1::detail
