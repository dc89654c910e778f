#include "syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "lexer.hpp"
#include "names.hpp"

namespace sinter::inline v1::detail {
namespace {

struct BinaryOperator {
  std::string_view symbol;
  int precedence;  // a larger one binds closer
  Op op;
};
constexpr int first_precedence = 1;
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

/// By recursive descent, as deep as max_nesting allows.
class Parser {
  using Kind = SyntaxNode::Kind;

 public:
  explicit Parser(SyntaxTree& tree) : tree_(tree), lexer_(tree.text) {}

  void read() {
    if (now().kind == Token::Kind::End) fail("the text is empty: an expression is expected, as in exp(x) + 1");
    expression();
    if (now().kind != Token::Kind::End) unexpected("an operator, or the end");
    collect_names();
  }

 private:
  const Token& now() const noexcept { return lexer_.now(); }
  [[noreturn]] void fail(const std::string& what) { throw_at(tree_.text, now().place(), what); }
  [[noreturn]] void unexpected(std::string_view expected) {
    if (now().is_word("and") || now().is_word("or"))
      fail(fmt::format("'{}' asks for one bool: write {} between comparisons in parentheses, as in (a < b) {} (b < c)",
                       now().text, now().text == "and" ? "&" : "|", now().text == "and" ? "&" : "|"));
    if (now().is_word("if")) fail("a choice for each element is where(condition, a, b)");
    if (now().is("=")) fail("'=' names an argument of a call: equality is ==");
    fail(fmt::format("{} is expected, and here is {}", expected, to_string(now())));
  }
  void expect(std::string_view symbol, std::string_view what) {
    if (!now().is(symbol)) unexpected(what);
    lexer_.take();
  }
  template <class F>
  void nested(F read) {
    if (++depth_ > max_nesting)
      fail(fmt::format("this is nested deeper than {} levels: give a part of it a name of its own", max_nesting));
    read();
    --depth_;
  }
  void add_operator(Op op, const Token& token, int operands) {
    tree_.nodes.push_back({.kind = Kind::Operator, .place = token.place(), .op = op, .operands = operands});
  }

  void expression() {
    nested([&] {
      if (now().is_word("not")) {
        const Token token = lexer_.take();
        expression();
        add_operator(Op::logical_not, token, 1);
      } else {
        comparison();
      }
    });
  }
  void comparison() {
    binary(first_precedence);
    const BinaryOperator* o = find(comparisons, now());
    if (!o) return;
    const Token token = lexer_.take();
    binary(first_precedence);
    if (find(comparisons, now())) fail("a < b < c asks for one bool: write (a < b) & (b < c)");
    add_operator(o->op, token, 2);
  }
  void binary(int precedence) {
    unary();
    for (const BinaryOperator* o; (o = find(binary_operators, now())) && o->precedence >= precedence;) {
      const Token token = lexer_.take();
      binary(o->precedence + 1);
      add_operator(o->op, token, 2);
    }
  }
  void unary() {
    constexpr BinaryOperator signs[] = {{"-", 0, Op::neg}, {"+", 0, Op::positive}, {"~", 0, Op::bitwise_not}};
    const BinaryOperator* o = find(signs, now());
    if (!o) return power();
    const Token token = lexer_.take();
    nested([&] { unary(); });
    add_operator(o->op, token, 1);
  }
  void power() {
    postfix();
    if (!now().is("**")) return;
    const Token token = lexer_.take();
    nested([&] { unary(); });
    add_operator(Op::pow, token, 2);
  }
  void postfix() {
    primary();
    for (;;) {
      if (now().is("."))
        method();
      else if (now().is("["))
        index();
      else
        return;
    }
  }
  void method() {
    lexer_.take();
    if (now().kind != Token::Kind::Name) unexpected("the name of a method");
    const Token name = lexer_.take();
    if (now().is("(")) return call(name, true);
    if (name.text != "T") unexpected(fmt::format("'(' after the method's name, .{}()", name.text));
    tree_.nodes.push_back({.kind = Kind::Call, .place = name.place(), .name = "t", .operands = 1, .is_method = true});
  }
  /// x[1, 2:, ..., None]
  void index() {
    SyntaxNode node{.kind = Kind::Index, .place = lexer_.take().place(), .operands = 1};
    while (!now().is("]")) {
      if (node.operands++ > max_arguments) fail(fmt::format("an index has at most {} parts", max_arguments));
      index_part();
      if (!now().is(",")) break;
      lexer_.take();
    }
    if (node.operands == 1) fail("an index is expected, as in x[0] or x[1:, None]");
    expect("]", "',' or ']'");
    tree_.nodes.push_back(std::move(node));
  }
  void index_part() {
    const Token token = now();
    if (token.is("...")) {
      lexer_.take();
      tree_.nodes.push_back({.kind = Kind::Ellipsis, .place = token.place()});
      return;
    }
    if (!token.is(":")) expression();
    if (!now().is(":")) return;
    if (token.is(":")) add_none();
    for (int bound = 1; bound < 3; ++bound) {
      const bool has_bound = now().is(":");
      if (has_bound) lexer_.take();
      !has_bound || now().is(":") || now().is(",") || now().is("]") ? add_none() : expression();
    }
    tree_.nodes.push_back({.kind = Kind::Slice, .place = token.place(), .operands = 3});
  }
  void add_none() { tree_.nodes.push_back({.kind = Kind::Name, .place = now().place(), .name = "None"}); }
  void primary() {
    const Token token = now();
    if (token.kind == Token::Kind::Number) {
      lexer_.take();
      tree_.nodes.push_back({.kind = Kind::Number, .place = token.place(), .number = token.number});
    } else if (token.kind == Token::Kind::Name && !is_keyword(token.text)) {
      lexer_.take();
      if (now().is("(")) return call(token, false);
      tree_.nodes.push_back({.kind = Kind::Name, .place = token.place(), .name = token.text});
    } else if (token.is("(") || token.is("[")) {
      lexer_.take();
      parenthesis(token);
    } else {
      unexpected("a number, a name or '('");
    }
  }
  /// (a) is a; (a, b), (a,), [a] and () are lists.
  void parenthesis(const Token& open) {
    const std::string_view close = open.is("(") ? ")" : "]";
    int count = 0;
    bool is_list = open.is("[") || now().is(close);
    while (!now().is(close)) {
      expression();
      ++count;
      if (!now().is(",")) break;
      lexer_.take();
      is_list = true;
    }
    expect(close, fmt::format("',' or '{}'", close));
    if (is_list) tree_.nodes.push_back({.kind = Kind::List, .place = open.place(), .operands = count});
  }
  void call(const Token& name, bool is_method) {
    lexer_.take();
    SyntaxNode node{.kind = Kind::Call, .place = name.place(), .name = name.text, .operands = is_method};
    node.is_method = is_method;
    while (!now().is(")")) {
      argument(node);
      if (!now().is(",")) break;
      lexer_.take();
    }
    expect(")", "',' or ')'");
    tree_.nodes.push_back(std::move(node));
  }
  /// f(a, name=b): whether a name is a keyword's shows behind it.
  void argument(SyntaxNode& node) {
    const Token token = now();
    const std::size_t before = tree_.nodes.size();
    expression();
    if (++node.operands > max_arguments)
      throw_at(tree_.text, token.place(), fmt::format("a call has at most {} arguments", max_arguments));
    const bool is_name = tree_.nodes.size() == before + 1 && tree_.nodes.back().kind == Kind::Name;
    if (now().is("=") && is_name && token.text == tree_.nodes.back().name) {
      tree_.nodes.pop_back();
      if (std::ranges::find(node.keywords, token.text) != node.keywords.end())
        throw_at(tree_.text, token.place(), fmt::format("the argument '{}' is there twice", token.text));
      lexer_.take();
      node.keywords.push_back(token.text);
      expression();
    } else if (!node.keywords.empty()) {
      throw_at(tree_.text, token.place(), "an argument without a name stands before those with names");
    }
  }
  void collect_names() {
    std::unordered_set<std::string_view> known;
    for (const SyntaxNode& node : tree_.nodes)
      if (node.kind == Kind::Name && !has_meaning(node.name) && known.insert(node.name).second)
        tree_.names.emplace_back(node.name);
  }

  SyntaxTree& tree_;
  Lexer lexer_;
  int depth_ = 0;
};

}  // namespace

std::shared_ptr<const SyntaxTree> read_expression(std::string_view text) {
  auto tree = std::make_shared<SyntaxTree>(text);
  Parser(*tree).read();
  return tree;
}

}  // namespace sinter::inline v1::detail
