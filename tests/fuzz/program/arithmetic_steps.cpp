// Elementwise operations, casts, reductions and products of matrices.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include <dsl/text/names.hpp>
#include "step.hpp"

namespace sinter::fuzz {
namespace {

/// Operations by name, as a text calls them.
const std::vector<Op>& elementwise_operations() {
  static const auto& all = *new auto([] {
    std::vector<Op> ops;
    for (int i = static_cast<int>(first_table_op); i < op_count; ++i)
      if (const auto* named = detail::operation_named(name(Op(i))); named && named->op == Op(i)) ops.push_back(Op(i));
    return ops;
  }());
  return all;
}

const std::vector<Op>& reductions() {
  static const auto& all = *new auto([] {
    std::vector<Op> ops;
    for (int i = static_cast<int>(first_reduction); i < all_op_count; ++i)
      if (detail::reduction_named(name(Op(i)))) ops.push_back(Op(i));
    return ops;
  }());
  return all;
}

/// Operations that simplifying knows a lot about.
constexpr Op common[] = {Op::add,         Op::sub, Op::mul,    Op::where,       Op::logical_xor,
                         Op::maximum,     Op::eq,  Op::ne,     Op::logical_and, Op::logical_or,
                         Op::bitwise_xor, Op::fma, Op::square, Op::neg};

Kind kind_of(Op op) {
  switch (op) {
    case Op::neg:
    case Op::abs:
    case Op::positive:
    case Op::relu:
    case Op::relu6:
    case Op::maximum:
    case Op::minimum:
    case Op::fmax:
    case Op::fmin:
    case Op::clamp:
    case Op::hardtanh:
    case Op::real:
    case Op::imag:
    case Op::conj: return Kind::Moves;
    case Op::add:
    case Op::sub: return Kind::Adds;
    case Op::mul:
    case Op::square:
    case Op::fma:
    case Op::addcmul: return Kind::Products;
    case Op::sin:
    case Op::cos:
    case Op::tanh:
    case Op::atan:
    case Op::asinh:
    case Op::sigmoid:
    case Op::softsign: return Kind::Smooth;
    case Op::sign:
    case Op::sgn:
    case Op::heaviside:
    case Op::threshold:
    case Op::hardshrink:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
    case Op::round:
    case Op::copysign:
    case Op::nan_to_num:
    case Op::where: return Kind::Decides;
    default: break;
  }
  const DTypeRule rule = info(op).rule;
  const bool decides = rule == DTypeRule::Compare || rule == DTypeRule::FloatCompare || rule == DTypeRule::Logical ||
                       rule == DTypeRule::Integer || rule == DTypeRule::IntegerOnly;
  return decides ? Kind::Decides : Kind::Other;
}

bool sees_sign_of_nan(Op op) { return op == Op::copysign || op == Op::signbit; }

/// Whether an operation takes the value at all, so far as its error and its size go.
bool suits(Op op, Kind kind, const Known& v) {
  if (!v.exact && (kind == Kind::Other || kind == Kind::Decides)) return false;
  if (v.has_nan && sees_sign_of_nan(op)) return false;
  // Far out functions have few digits left, and powers overflow.
  return kind != Kind::Other || category(v.dtype) < Category::Float || v.largest < 1e3;
}

bool fits(const Shape& a, const Shape& b) {
  Shape both = a;
  return broadcast(both, b) && both.numel() <= 20'000;
}

struct Numeral {
  const char* text;
  Number number;
};
Numeral any_number(Choices& choices) {
  return choices.pick<Numeral>({{"0", {Category::Int, 0}},
                                {"1", {Category::Int, 1}},
                                {"2", {Category::Int, 2}},
                                {"3", {Category::Int, 3}},
                                {"-1", {Category::Int, -1}},
                                {"True", {Category::Bool, 1}},
                                {"0.5", {Category::Float, 0.5}},
                                {"-0.0", {Category::Float, -0.0}},
                                {"1.0", {Category::Float, 1}},
                                {"-2.5", {Category::Float, -2.5}}});
}

/// The numbers of operands of a call: values, or numerals.
struct Operands {
  std::vector<std::size_t> values;  // each once
  std::vector<int> places;          // of each operand: a place in `values`, or -1 for a number
  std::vector<Numeral> numerals;    // of each operand
  Shape shape;

  void add(std::size_t value, const Known& known) {
    const auto there = std::ranges::find(values, value);
    places.push_back(static_cast<int>(there - values.begin()));
    if (there == values.end()) values.push_back(value);
    numerals.push_back({});
    static_cast<void>(broadcast(shape, known.shape));
  }
  std::string text(std::size_t i) const {
    return places[i] < 0 ? numerals[i].text : name_of(values[static_cast<std::size_t>(places[i])]);
  }
};

Operands operands_for(Choices& choices, Op op, Kind kind, std::span<const Known> known) {
  Operands chosen;
  const int arity = info(op).arity;
  for (int i = 0; i < arity; ++i) {
    if (i > 0 && choices.often(12)) {
      chosen.places.push_back(-1);
      chosen.numerals.push_back(any_number(choices));
      continue;
    }
    std::size_t value = any_value(choices, known.size());
    // One that fits, unless the call is to be refused.
    const bool any = choices.often(3);
    for (std::size_t tried = 0; tried < known.size(); ++tried, value = (value + 1) % known.size()) {
      const bool is_condition = op == Op::where && i == 0;
      if (!suits(op, kind, known[value])) continue;
      if (any || (fits(chosen.shape, known[value].shape) && (known[value].dtype == DType::Bool) >= is_condition)) break;
    }
    if (i > 0 && choices.often(30)) value = chosen.values[any_value(choices, chosen.values.size())];
    chosen.add(value, known[value]);
  }
  return chosen;
}

}  // namespace

Step elementwise_step(Choices& choices, std::span<const Known> known) {
  const auto& all = elementwise_operations();
  const Op op = choices.often(45) ? common[choices.below(std::size(common))]
                                  : all[static_cast<std::size_t>(choices.below(static_cast<int>(all.size())))];
  Kind kind = kind_of(op);
  const Operands of = operands_for(choices, op, kind, known);
  for (const std::size_t v : of.values)
    if (is_complex(known[v].dtype) && (kind == Kind::Smooth || op == Op::abs || op == Op::sgn)) kind = Kind::Other;
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < of.places.size(); ++i) arguments.push_back(of.text(i));
  // An operator in place of a call, where there is one.
  std::string text = fmt::format("{}({})", name(op), fmt::join(arguments, ", "));
  if (arguments.size() == 2 && choices.often(50)) {
    if (op == Op::add) text = fmt::format("{} + {}", arguments[0], arguments[1]);
    if (op == Op::sub) text = fmt::format("{} - {}", arguments[0], arguments[1]);
    if (op == Op::mul) text = fmt::format("{} * {}", arguments[0], arguments[1]);
    if (op == Op::div) text = fmt::format("{} / {}", arguments[0], arguments[1]);
  }
  Step step = text_step(text, of.values, kind);
  step.terms = info(op).arity;
  step.reference = [op, of](std::span<const Plain> values) {
    std::vector<ReferenceOperand> operands;
    for (std::size_t i = 0; i < of.places.size(); ++i) {
      if (of.places[i] < 0)
        operands.push_back({nullptr, of.numerals[i].number});
      else
        operands.push_back({&values[static_cast<std::size_t>(of.places[i])]});
    }
    return elementwise(op, operands);
  };
  return step;
}

Step cast_step(Choices& choices, std::span<const Known> known) {
  std::size_t value = any_value(choices, known.size());
  const DType to = DType(choices.below(dtype_count));
  const bool exact_only = category(to) < Category::Float;
  for (std::size_t tried = 0; tried < known.size() && exact_only && !known[value].exact; ++tried)
    value = (value + 1) % known.size();
  Step step =
      text_step(fmt::format("{}.to({})", name_of(value), name(to)), {value}, exact_only ? Kind::Decides : Kind::Moves);
  // A real number that an expression converts has no imaginary part there: infinities and zeros behave otherwise.
  if (is_complex(to) && !is_complex(known[value].dtype)) {
    step.text += ".evaluate()";
    step.run = [part = step.run](std::span<const Any> values) { return Any(AnyTensor(part(values))); };
  }
  step.reference = [to](std::span<const Plain> values) {
    if (is_complex(values[0].dtype) && !is_complex(to) && to != DType::Bool) return Reference();
    return Reference(converted(values[0], to));
  };
  return step;
}

Step reduction_step(Choices& choices, std::span<const Known> known) {
  const auto& all = reductions();
  const Op op = choices.often(40) ? choices.pick({Op::sum, Op::sum, Op::any, Op::amax, Op::mean, Op::softmax})
                                  : all[static_cast<std::size_t>(choices.below(static_cast<int>(all.size())))];
  Kind kind = Kind::Other;
  if (op == Op::sum || op == Op::nansum || op == Op::mean) kind = Kind::Adds;
  if (op == Op::amax || op == Op::amin) kind = Kind::Moves;
  if (op == Op::any || op == Op::all || op == Op::argmax || op == Op::argmin || op == Op::count_nonzero)
    kind = Kind::Decides;
  std::size_t value = any_value(choices, known.size());
  for (std::size_t tried = 0; tried < known.size() && !suits(op, kind, known[value]); ++tried)
    value = (value + 1) % known.size();
  const Shape shape = known[value].shape;
  const bool spreads = info(op).reduction == Reduction::ShapePreserving;
  std::vector<int> axes;
  if (const int count = spreads ? 1 : choices.pick({0, 1, 1, 1, 2}); count > 0)
    for (int i = 0; i < count; ++i) axes.push_back(any_axis(choices, shape));
  std::vector<bool> combined(shape.size(), axes.empty());
  for (const int axis : axes)
    if (const int at = positive_axis(axis, shape.ndim()); at >= 0) combined[static_cast<std::size_t>(at)] = true;
  const bool keeps = !spreads && choices.often(40);
  const bool is_corrected = info(op).arity == 2;
  const int correction = choices.pick({1, 1, 0});
  std::string text = fmt::format("{}({}", name(op), name_of(value));
  if (axes.size() == 1) text += fmt::format(", axis={}", axes[0]);
  if (axes.size() > 1) text += fmt::format(", axis=({})", fmt::join(axes, ", "));
  if (is_corrected) text += fmt::format(", correction={}", correction);
  if (keeps) text += ", keepdim=True";
  Step step = text_step(text + ")", {value}, kind);
  step.rounds = op == Op::mean;
  for (int axis = 0; axis < shape.ndim(); ++axis)
    if (combined[static_cast<std::size_t>(axis)]) step.terms *= static_cast<double>(shape[axis]);
  step.reference = [=](std::span<const Plain> values) { return reduced(op, values[0], combined, keeps, correction); };
  return step;
}

Step product_step(Choices& choices, std::span<const Known> known) {
  const std::size_t first = any_value(choices, known.size());
  std::size_t a = first, b = first;
  const auto fit = [&](const Known& x, const Known& y) {
    if (x.dtype != y.dtype || category(x.dtype) < Category::Float || x.shape.empty() || y.shape.empty()) return false;
    return x.shape[-1] == y.shape[y.shape.ndim() == 1 ? -1 : -2] && x.shape.numel() * y.shape.numel() < 100'000;
  };
  for (std::size_t i = 0; i < known.size(); ++i)
    for (std::size_t j = 0; j < known.size(); ++j)
      if (const std::size_t at = (first + i) % known.size(); fit(known[at], known[j])) a = at, b = j;
  Step step = text_step(fmt::format("matmul({}, {})", name_of(a), name_of(b)), {a}, Kind::Products);
  if (b != a) step = text_step(step.text, {a, b}, Kind::Products);
  if (!known[a].shape.empty()) step.terms = static_cast<double>(known[a].shape[-1]);
  step.reference = [](std::span<const Plain> values) { return product(values.front(), values.back()); };
  return step;
}

}  // namespace sinter::fuzz
