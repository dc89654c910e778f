#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <boost/container/small_vector.hpp>

#include <jit/plan/product.hpp>
#include <runtime/text.hpp>
#include <sinter/dsl/reduce.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "call.hpp"
#include "syntax.hpp"
#include "value.hpp"

namespace sinter::inline v1 {
namespace detail {
namespace {

using Kind = TextValue::Kind;

std::string describe_both(std::span<const TextValue> operands) {
  std::string all;
  for (const TextValue& v : operands)
    if (v.is_tensor()) all += (all.empty() ? "" : ", ") + describe(v);
  return all;
}

/// The faster operation that a power with this exponent is, for floats; Op::pow for others. PyTorch chooses the same.
Op power_with(const TextValue& base, const TextValue& exponent) {
  if (!base.is_tensor() || category(base.node->dtype()) != Category::Float) return Op::pow;
  if (exponent.kind != Kind::Number || exponent.number.category == Category::Complex) return Op::pow;
  const double p = exponent.number.value.real();
  return p == 2 ? Op::square : p == 0.5 ? Op::sqrt : p == -0.5 ? Op::rsqrt : p == -1 ? Op::reciprocal : Op::pow;
}

}  // namespace

Shape common_shape(std::string_view operation, std::span<const TextValue> operands) {
  Shape shape;
  for (const TextValue& v : operands)
    if (v.is_tensor() && !broadcast(shape, v.shape))
      throw ShapeError(fmt::format("{}: the shapes do not broadcast: {}", operation, describe_both(operands)));
  return shape;
}

TextValue applied(Op op, std::span<const TextValue> operands) {
  if (op == Op::pow)
    if (const Op faster = power_with(operands[0], operands[1]); faster != Op::pow)
      return applied(faster, operands.first(1));
  const bool all_numbers = std::ranges::all_of(operands, [](const TextValue& v) { return v.kind == Kind::Number; });
  if (all_numbers && operands.size() <= 2)
    if (const auto number =
            operands.size() == 2 ? fold(op, operands[0].number, operands[1].number) : fold(op, operands[0].number))
      return TextValue::of(*number);
  boost::container::small_vector<jit::LazyRef, max_arity> nodes;
  for (const TextValue& v : operands) nodes.push_back(node_of(v));
  if (std::ranges::none_of(operands, &TextValue::is_tensor)) {
    if (op == Op::matmul) throw Error("matmul takes two tensors: multiply numbers with *");
    return {.kind = Kind::Scalar, .node = jit::lazy(op, {nodes.data(), nodes.size()})};
  }
  if (op == Op::matmul) {
    if (!std::ranges::all_of(operands, &TextValue::is_tensor))
      throw Error("matmul takes two tensors: multiply by a number with *");
    const Lazy<AnyType> product(jit::lazy(op, {nodes.data(), nodes.size()}));
    const std::optional<Shape> shape = jit::product_shape(operands[0].shape, operands[1].shape);
    return shape ? TextValue::tensor(product, *shape) : TextValue::tensor(product);  // throws
  }
  const Shape shape = common_shape(name(op), operands);
  return TextValue::tensor(Lazy<AnyType>(jit::lazy(op, {nodes.data(), nodes.size()})), shape);
}

const TextParameters& parameters_of_reduction(Op op) {
  static const auto& accumulating = *new TextParameters("input, axis=None, keepdim=False, *, dtype=None");
  static const auto& others = *new TextParameters("input, axis=None, keepdim=False");
  static const auto& deviations =
      *new TextParameters("input, axis=None, correction=1, keepdim=False, *, unbiased=None");
  static const auto& preserving = *new TextParameters("input, axis, *, dtype=None");
  if (info(op).reduction == Reduction::ShapePreserving) return preserving;
  if (info(op).arity == 2) return deviations;
  const bool accumulates = op == Op::sum || op == Op::prod || op == Op::mean || op == Op::nansum || op == Op::nanmean;
  return accumulates ? accumulating : others;
}

namespace {

/// What a variance is divided by: the number of elements minus this. As in PyTorch, True and False mean 1 and 0.
jit::LazyRef correction_among(const Arguments& a) {
  if (a[4] && a[2]) a.wrong(4, "omitted if 'correction' is given");
  if (a[4]) return lazy_node(a.flag(4) ? std::int64_t{1} : std::int64_t{0});
  if (!a[2]) return lazy_node(FixedNumber<Category::Int, 1>());
  if (a[2]->kind != Kind::Number || a[2]->number.category == Category::Complex) a.wrong(2, "a number, 1 or 0");
  return a[2]->number.category == Category::Bool ? lazy_node(a[2]->number.integer) : node_of(*a[2]);
}

}  // namespace

TextValue reduced(Op op, const Arguments& a) {
  const bool preserves_shape = info(op).reduction == Reduction::ShapePreserving;
  const bool has_correction = info(op).arity == 2;
  const std::size_t dtype = preserves_shape ? 2 : 3;
  const bool is_cast = !has_correction && a.size() > dtype && a[dtype];
  const auto cast_if_asked = [&](const TextValue& v) { return is_cast ? cast_value(v, a.dtype(dtype, {})) : v; };
  const TextValue x = cast_if_asked(a.tensor(0));
  if (preserves_shape) a.required(1);
  const Axes axes = a.axes(1);
  jit::ReduceAxes reduced_axes{jit::ReduceAxes::all_axes, !preserves_shape && a.flag(has_correction ? 3 : 2)};
  const OperandInfo facts{x.shape, x.node->dtype(), x.node->device()};
  if (!axes.all() && !find_axes(axes, x.shape.ndim(), reduced_axes.axes)) throw_wrong_axes(name(op), axes, facts);
  if (needs_element(op) && x.shape.numel() == 0) check_has_elements(name(op), reduced_axes, facts);
  std::vector<jit::LazyRef> nodes{x.node};
  if (has_correction) nodes.push_back(correction_among(a));
  const Shape shape = preserves_shape ? x.shape : jit::reduced_shape(x.shape, reduced_axes);
  return cast_if_asked(TextValue::tensor(Lazy<AnyType>(jit::lazy(op, nodes, reduced_axes)), shape));
}

namespace {

/// Rethrows the current exception with the place in the text.
[[noreturn]] void rethrow_at(std::string_view text, TextRange place) {
  const auto placed = [&](const std::exception& e) { return e.what() + with_caret(text, place); };
  try {
    throw;
  } catch (const ParseError&) {
    throw;
  } catch (const DTypeError& e) {
    throw DTypeError(placed(e));
  } catch (const ShapeError& e) {
    throw ShapeError(placed(e));
  } catch (const DeviceError& e) {
    throw DeviceError(placed(e));
  } catch (const IndexError& e) {
    throw IndexError(placed(e));
  } catch (const OutOfMemory&) {
    throw;
  } catch (const CudaError&) {
    throw;
  } catch (const CompileError&) {
    throw;
  } catch (const Error& e) {
    throw Error(placed(e));
  }
}

/// Evaluates the nodes in order, keeping their values on a stack.
class Builder {
 public:
  Builder(const SyntaxTree& tree, std::span<const NamedOperand> operands)
      : tree_(tree), operands_(operands), known_(operands.size()) {}

  Lazy<AnyType> build() {
    for (const SyntaxNode& node : tree_.nodes) {
      TextValue made;
      try {
        made = value_of(node);
      } catch (const Error&) {
        rethrow_at(tree_.text, node.place);
      }
      made.place = node.place;
      stack_.resize(stack_.size() - static_cast<std::size_t>(node.operands));
      stack_.push_back(std::move(made));
    }
    const TextValue& result = stack_.back();
    if (!result.is_operand()) fail(result.place, fmt::format("the text is {}, not an expression", describe(result)));
    return Lazy<AnyType>(node_of(result));
  }

 private:
  [[noreturn]] void fail(TextRange place, const std::string& what) const { throw_at(tree_.text, place, what); }
  std::span<const TextValue> taken(const SyntaxNode& node) const {
    return std::span(stack_).last(static_cast<std::size_t>(node.operands));
  }

  TextValue value_of(const SyntaxNode& node) {
    switch (node.kind) {
      case SyntaxNode::Kind::Number: return TextValue::of(node.number);
      case SyntaxNode::Kind::Name: return named(node);
      case SyntaxNode::Kind::Operator: return operated(node);
      case SyntaxNode::Kind::Call: return called(node);
      case SyntaxNode::Kind::List: {
        const auto items = taken(node);
        return {.kind = Kind::List, .items = {items.begin(), items.end()}};
      }
      case SyntaxNode::Kind::Slice: {
        const auto items = taken(node);
        return {.kind = Kind::Slice, .items = {items.begin(), items.end()}};
      }
      case SyntaxNode::Kind::Ellipsis: return {.kind = Kind::Ellipsis};
      case SyntaxNode::Kind::Index: return indexed(taken(node), tree_.text);
    }
    return {};
  }

  TextValue named(const SyntaxNode& node) {
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (operands_[i].name == node.name) return operand(i);
    if (const auto number = constant_named(node.name)) return TextValue::of(*number);
    if (const auto dtype = dtype_named(node.name)) return {.kind = Kind::DType, .dtype = *dtype};
    if (node.name == "None") return {.kind = Kind::None};
    std::vector<std::string_view> known{"pi", "inf", "nan", "True", "False"};
    for (const NamedOperand& o : operands_) known.insert(known.begin(), o.name);
    std::string given;
    for (const NamedOperand& o : operands_) given += (given.empty() ? "" : ", ") + runtime::shortened(o.name);
    fail(node.place,
         fmt::format("the name '{}' has no value{}; given are: {}", runtime::shortened(node.name),
                     did_you_mean(node.name, known), given.empty() ? "none" : runtime::shortened(given, 1000)));
  }

  /// Its shape is computed once.
  const TextValue& operand(std::size_t i) {
    const NamedOperand& o = operands_[i];
    if (!known_[i].node)
      known_[i] = o.is_number ? TextValue{.kind = Kind::Scalar, .node = o.value.node()}
                              : TextValue::tensor(Lazy<AnyType>(jit::named(o.value.node(), o.name)));
    return known_[i];
  }

  void check_operands(const SyntaxNode& node) const {
    for (const TextValue& v : taken(node))
      if (!v.is_operand())
        fail(v.place, fmt::format("{} takes tensors and numbers, but got {}", name(node.op), describe(v)));
  }
  TextValue operated(const SyntaxNode& node) {
    check_operands(node);
    return applied(node.op, taken(node));
  }

  TextValue called(const SyntaxNode& node) {
    const std::span<const TextValue> values = taken(node);
    if (node.is_method && !values[0].is_operand())
      fail(values[0].place, fmt::format("{} has no methods", describe(values[0])));
    if (auto made = call({tree_.text, node.place, node.name, node.is_method}, values, node.keywords))
      return *std::move(made);
    unknown_function(node);
  }

  [[noreturn]] void unknown_function(const SyntaxNode& node) const {
    std::vector<std::string_view> known(operation_names().begin(), operation_names().end());
    for (const auto functions : {text_functions(), loss_functions(), text_views()})
      for (const TextFunction& f : functions) known.push_back(f.name);
    for (const NamedOperand& o : operands_)
      if (o.name == node.name)
        fail(node.place,
             fmt::format("'{}' is an operand, not a function: to multiply write *", runtime::shortened(o.name)));
    if (evaluates(node.name))
      fail(node.place, fmt::format("'{}' returns a tensor immediately, so a text cannot contain it: call it first, and "
                                   "pass its result as an operand",
                                   node.name));
    fail(node.place,
         fmt::format("there is no function '{}'{}", runtime::shortened(node.name), did_you_mean(node.name, known)));
  }

  const runtime::DefaultFloatEnvironment floats_;  // arithmetic on numbers only happens here
  const SyntaxTree& tree_;
  std::span<const NamedOperand> operands_;
  std::vector<TextValue> known_;  // values of the operands used so far
  std::vector<TextValue> stack_;
};

}  // namespace
}  // namespace detail

ParsedExpression::ParsedExpression(std::string_view text) : tree_(detail::read_expression(text)) {}

const std::string& ParsedExpression::text() const noexcept { return tree_->text; }

const std::vector<std::string>& ParsedExpression::names() const noexcept { return tree_->names; }

Lazy<AnyType> ParsedExpression::operator()(std::span<const NamedOperand> operands) const {
  return detail::Builder(*tree_, operands).build();
}

Lazy<AnyType> parse(std::string_view text, std::span<const NamedOperand> operands) {
  return ParsedExpression(text)(operands);
}

}  // namespace sinter::inline v1
