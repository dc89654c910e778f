#include <sinter/jit/graph.hpp>

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "checks.hpp"
#include "evaluator.hpp"
#include "plan.hpp"

namespace sinter::inline v1::jit {

namespace {

OperandType operand_type(const Node& n) noexcept {
  if (n.op == Op::scalar) return {default_dtype(scalar_use(n).arrives_as), true};
  const bool weak = n.op == Op::constant || (n.op >= Op::cast && n.attribute == weak_result);
  return weak ? OperandType{default_dtype(category(n.dtype)), true} : OperandType{n.dtype};
}

std::string describe(const OperandType& o) {
  if (!o.weak) return std::string(name(o.dtype));
  constexpr std::string_view cpp[] = {"bool", "integer", "floating"};
  return fmt::format("a C++ {} number", cpp[static_cast<int>(category(o.dtype))]);
}

std::string_view accepted(DTypeRule rule) noexcept {
  switch (rule) {
    case DTypeRule::FirstNumber:
    case DTypeRule::Number: return "integers and floats, not bool: convert with cast<float>(x) or cast<int>(x)";
    case DTypeRule::Integer: return "bool and integers, not floats: convert with cast<int>(x)";
    case DTypeRule::IntegerOnly: return "integers, not bool and floats: convert with cast<int>(x)";
    case DTypeRule::WideFloat: return "float32 and float64: convert an operand with cast<float>(x)";
    case DTypeRule::FloatOnly: return "floats: convert an operand with cast<float>(x)";
    case DTypeRule::Select: return "a bool as first operand: write x != 0";
    default: return "int64: convert with cast<std::int64_t>(x)";
  }
}

[[noreturn]] void throw_dtype(Op op, std::span<const OperandType> operands) {
  std::string list;
  for (const OperandType& o : operands) list += (list.empty() ? "" : ", ") + describe(o);
  throw DtypeError(fmt::format("{}({}): {} takes {}", name(op), list, name(op), accepted(info(op).rule)));
}

template <class To, class From>
To convert(From v) noexcept {
  if constexpr (is_stored_only(dtype_of<From>) && category(dtype_of<From>) == Category::Float) {
    return convert<To>(static_cast<float>(v));
  } else if constexpr (is_stored_only(dtype_of<To>) && category(dtype_of<To>) == Category::Float) {
    return To(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(v)) return 0;
    // The maximum rounds up to a power of two that To does not hold.
    if (v >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if (v <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

}  // namespace

std::uint64_t convert_bits(std::uint64_t bits, DType from, DType to) noexcept {
  return visit(from, [&]<class From>(std::type_identity<From>) {
    From value;
    if constexpr (std::is_same_v<From, bool>)
      value = bits != 0;
    else
      std::memcpy(&value, &bits, sizeof value);
    return visit(to, [&]<class To>(std::type_identity<To>) {
      const To converted = convert<To>(value);
      std::uint64_t result = 0;
      std::memcpy(&result, &converted, sizeof converted);
      return result;
    });
  });
}

Operand Graph::node(Op op, DType dtype, std::span<const Operand> operands, std::uint64_t attribute) {
  const auto first = static_cast<std::uint32_t>(operands_.size());
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  nodes_.push_back({op, dtype, static_cast<std::uint16_t>(operands.size()), first, attribute});
  return {static_cast<NodeId>(nodes_.size() - 1)};
}

void Graph::reserve(std::size_t nodes, std::size_t operands) {
  nodes_.reserve(nodes);
  operands_.reserve(operands);
}

Operand Graph::leaf(DType dtype, std::uint32_t number) { return node(Op::leaf, dtype, {}, number); }
Operand Graph::index(std::uint32_t number) { return node(Op::index, DType::Int64, {}, number); }

Operand Graph::scalar(DType dtype, Category category, std::uint32_t number) {
  return node(Op::scalar, dtype, {}, number | static_cast<std::uint64_t>(category) << 32);
}

Operand Graph::constant(DType dtype, std::uint64_t bits) { return node(Op::constant, dtype, {}, bits); }

Operand Graph::cast(Operand a, DType dtype) {
  const Node n = (*this)[a];
  if (n.dtype == dtype) return a;
  if (n.op == Op::constant) {
    const runtime::DefaultFloats floats;
    const std::uint64_t bits = convert_bits(n.attribute, n.dtype, dtype);
    const bool rounds = is_stored_only(dtype) && convert_bits(bits, dtype, n.dtype) != n.attribute;
    if (!rounds || category(dtype) != Category::Float) return constant(dtype, bits);
    return node(Op::cast, dtype, {&a, 1}, weak_result);  // numbers are as exact as what is computed with them
  }
  if (n.op == Op::scalar) return scalar(dtype, scalar_use(n).arrives_as, scalar_use(n).number);
  return node(Op::cast, dtype, {&a, 1});
}

Operand Graph::explicit_cast(Operand a, DType dtype) {
  const Node n = (*this)[a];
  if (operand_type(n).weak) a = cast(a, dtype);
  return node(Op::cast, dtype, {&a, 1});
}

Operand Graph::apply(Op op, std::span<const Operand> operands) {
  const OpInfo& about = info(op);
  if (about.rule == DTypeRule::None || operands.size() != about.arity)
    throw Error(fmt::format("{} takes {} operands, not {}", about.name, about.arity, operands.size()));
  std::array<OperandType, max_arity> types;
  std::array<Operand, max_arity> converted;
  bool all_weak = true;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    types[i] = operand_type((*this)[operands[i]]);
    all_weak &= types[i].weak;
  }
  const OpTypes t = op_types(op, std::span(types).first(operands.size()));
  if (!t.ok) throw_dtype(op, std::span(types).first(operands.size()));
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool condition = about.rule == DTypeRule::Select && i == 0;
    const Node& n = (*this)[operands[i]];
    if (n.op == Op::constant && n.dtype == DType::Int64 && !condition)
      check_fits(static_cast<std::int64_t>(n.attribute), t.compute);
    converted[i] = cast(operands[i], condition ? DType::Bool : t.compute);
  }
  return node(op, t.result, std::span(converted).first(operands.size()), all_weak ? weak_result : 0);
}

ScalarUse scalar_use(const Node& n) noexcept {
  return {static_cast<std::uint32_t>(n.attribute), static_cast<Category>(n.attribute >> 32)};
}

Hash hash(const Graph& graph) noexcept {
  static_assert(std::has_unique_object_representations_v<Node> && std::has_unique_object_representations_v<Operand>);
  // An operation's operands lie in [first, first + arity) of one array: nodes, operands and outputs are all there is.
  const auto add = [](std::uint64_t* part, auto values) {
    const XXH128_hash_t h = XXH3_128bits(values.data(), values.size_bytes());
    part[0] = h.low64;
    part[1] = h.high64;
  };
  std::uint64_t parts[6];
  add(parts, graph.nodes());
  add(parts + 2, graph.all_operands());
  add(parts + 4, graph.outputs());
  const XXH128_hash_t h = XXH3_128bits(parts, sizeof parts);
  return {h.low64, h.high64};
}

Graph part_of(const Graph& graph, std::span<const std::uint32_t> outputs) {
  const auto nodes = graph.nodes();
  std::vector<bool> needed(nodes.size());
  for (std::uint32_t o : outputs) needed[static_cast<std::size_t>(graph.outputs()[o].node)] = true;
  for (std::size_t i = nodes.size(); i-- > 0;)
    if (needed[i])
      for (Operand o : graph.operands(nodes[i])) needed[static_cast<std::size_t>(o.node)] = true;
  Graph part;
  std::vector<NodeId> moved(nodes.size(), -1);
  const auto map = [&](Operand o) { return Operand{moved[static_cast<std::size_t>(o.node)], o.output}; };
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!needed[i]) continue;
    operands.clear();
    for (Operand o : graph.operands(nodes[i])) operands.push_back(map(o));
    moved[i] = part.node(nodes[i].op, nodes[i].dtype, operands, nodes[i].attribute).node;
  }
  for (std::uint32_t o : outputs) part.output(map(graph.outputs()[o]));
  return part;
}

std::vector<bool> leaves_of(const Graph& recorded, Operand output) {
  const auto nodes = recorded.nodes();
  std::vector<bool> needed(nodes.size()), leaves;
  needed[static_cast<std::size_t>(output.node)] = true;
  for (std::size_t i = static_cast<std::size_t>(output.node) + 1; i-- > 0;) {
    if (!needed[i]) continue;
    for (Operand o : recorded.operands(nodes[i])) needed[static_cast<std::size_t>(o.node)] = true;
    if (nodes[i].op != Op::leaf && nodes[i].op != Op::index) continue;
    const auto number = static_cast<std::size_t>(nodes[i].attribute);
    if (leaves.size() <= number) leaves.resize(number + 1);
    leaves[number] = true;
  }
  return leaves;
}

}  // namespace sinter::inline v1::jit
