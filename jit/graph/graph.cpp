#include <sinter/jit/graph.hpp>

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <sinter/jit/device_function.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "arguments.hpp"
#include "scalar_use.hpp"

namespace sinter::inline v1::jit {

namespace {

OperandType operand_type(const Node& n) noexcept {
  if (n.op == Op::scalar) return {default_dtype(scalar_use(n).arrives_as), true};
  const bool weak = n.op == Op::constant || (n.op >= Op::cast && n.attribute == weak_result);
  return weak ? OperandType{default_dtype(category(n.dtype)), true} : OperandType{n.dtype};
}

std::string describe(const OperandType& o) {
  if (!o.weak) return std::string(name(o.dtype));
  constexpr std::string_view cpp[] = {"bool", "integer", "floating-point", "complex"};
  return fmt::format("a C++ {} number", cpp[static_cast<int>(category(o.dtype))]);
}

std::string_view accepted(DTypeRule rule) noexcept {
  switch (rule) {
    case DTypeRule::FirstNumber:
    case DTypeRule::Number: return "integers and floats, not bool: convert with cast<float>(x) or cast<int>(x)";
    case DTypeRule::Integer: return "bool and integers, not floats: convert with cast<int>(x)";
    case DTypeRule::IntegerOnly: return "integers, not bool or floats: convert with cast<int>(x)";
    case DTypeRule::WideFloat: return "float32 and float64: convert an operand with cast<float>(x)";
    case DTypeRule::FloatOnly: return "floats: convert an operand with cast<float>(x)";
    case DTypeRule::Complex: return "complex numbers, not real ones: real numbers have no imaginary part";
    case DTypeRule::ComplexParts: return "real and imaginary parts that are floats: convert them with cast<float>(x)";
    case DTypeRule::Select: return "a bool as first operand: write x != 0";
    case DTypeRule::Index: return "integers and floats, not bool: convert with cast<int>(x)";
    case DTypeRule::Product:
      return "two operands of one dtype, of floats or complex numbers: convert one with cast<T>(x)";
    default: return "int64: convert with cast<std::int64_t>(x)";
  }
}

constexpr std::string_view real_ones =
    "real numbers, not complex ones: take real(z), imag(z), abs(z) or angle(z) first";
constexpr std::string_view not_uint64 =
    "other dtypes than uint64, which is stored, added, multiplied and compared for equality: convert with "
    "cast<std::int64_t>(x) or cast<float>(x)";
constexpr std::string_view not_both_signs =
    "no signed integers beside uint64: no dtype holds the values of both; convert one with cast<T>(x)";

/// Whether an operand converts to a parameter of a function when it is passed: both promote to the parameter's dtype.
bool may_pass(const OperandType& operand, DType to) noexcept {
  return operand.weak ? category(operand.dtype) <= category(to) : promote(operand.dtype, to) == to;
}

[[noreturn]] void throw_argument(const FunctionSource& f, std::size_t i, const OperandType& operand) {
  const DType to = f.parameters[i].dtype;
  throw DTypeError(
      fmt::format("{}: operand {} is {}, but parameter {} is {}, and these do not promote to {}: {}", f.name, i + 1,
                  describe(operand), f.parameters[i].name, name(to), name(to),
                  operand.weak ? "pass a number of the parameter's kind" : "convert the operand, as with x.to(dtype)"));
}

[[noreturn]] void throw_dtype(Op op, std::span<const OperandType> operands) {
  std::string list;
  for (const OperandType& o : operands) list += (list.empty() ? "" : ", ") + describe(o);
  const DType common = common_type(operands).dtype;
  std::string_view takes = accepted(info(op).rule);
  if (is_complex(common) && !takes_complex(op)) takes = real_ones;
  if (common == DType::UInt64) takes = takes_uint64(op) ? not_both_signs : not_uint64;
  throw DTypeError(fmt::format("{}({}): {} takes {}", name(op), list, name(op), takes));
}

/// An implicit conversion would silently drop the imaginary part.
void check_conversion(DType from, DType to) {
  if (is_complex(from) && !is_complex(to) && to != DType::Bool)
    throw DTypeError(
        fmt::format("cast({0}) to {1}: {1} has no imaginary part: take real(z), or abs(z) for the magnitude",
                    name(from), name(to)));
}

template <class To, class From>
To convert(From v) noexcept {
  if constexpr (complex_element<From> || complex_element<To>) {
    return To();  // no constant is complex
  } else if constexpr (is_stored_only(dtype_of<From>) && category(dtype_of<From>) == Category::Float) {
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

std::uint64_t absent_addend_bits(DType dtype) noexcept {
  return convert_bits(std::bit_cast<std::uint64_t>(-0.0), DType::Float64, dtype);
}

std::uint64_t convert_bits(std::uint64_t bits, DType from, DType to) noexcept {
  return visit(from, [&]<class From>(std::type_identity<From>) {
    From value{};
    if constexpr (std::is_same_v<From, bool>)
      value = bits != 0;
    else if constexpr (!complex_element<From>)
      std::memcpy(&value, &bits, sizeof value);
    return visit(to, [&]<class To>(std::type_identity<To>) {
      const To converted = convert<To>(value);
      std::uint64_t result = 0;
      if constexpr (!complex_element<To>) std::memcpy(&result, &converted, sizeof converted);
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

void Graph::output(Operand a) { outputs_.push_back(a); }

bool operator==(const Graph& a, const Graph& b) noexcept {
  return a.nodes_ == b.nodes_ && a.operands_ == b.operands_ && a.outputs_ == b.outputs_;
}

void Graph::reserve(std::size_t nodes, std::size_t operands) {
  nodes_.reserve(nodes);
  operands_.reserve(operands);
}

Operand Graph::leaf(DType dtype, std::uint32_t number) { return node(Op::leaf, dtype, {}, number); }
Operand Graph::iota(std::uint32_t number) { return node(Op::iota, DType::Int64, {}, number); }

Operand Graph::array(DType dtype, std::uint32_t number) { return node(Op::array, dtype, {}, number); }

Operand Graph::load(Operand array, Operand offset) {
  if ((*this)[array].op != Op::array || (*this)[offset].dtype != DType::Int64)
    throw Error(fmt::format("load takes an array and an int64, not {} {} and {}", name((*this)[array].dtype),
                            name((*this)[array].op), name((*this)[offset].dtype)));
  const Operand operands[] = {array, offset};
  return node(Op::load, (*this)[array].dtype, operands);
}

Operand Graph::scalar(DType dtype, Category category, std::uint32_t number) {
  return node(Op::scalar, dtype, {}, number | static_cast<std::uint64_t>(category) << 32);
}

Operand Graph::constant(DType dtype, std::uint64_t bits) { return node(Op::constant, dtype, {}, bits); }

Operand Graph::cast(Operand a, DType dtype) {
  const Node n = (*this)[a];
  if (n.dtype == dtype) return a;
  check_conversion(n.dtype, dtype);
  if (is_complex(dtype)) return cast_to_complex(a, dtype);
  if (n.op == Op::constant) {
    const runtime::DefaultFloatEnvironment floats;
    const std::uint64_t bits = convert_bits(n.attribute, n.dtype, dtype);
    const bool rounds = is_stored_only(dtype) && convert_bits(bits, dtype, n.dtype) != n.attribute;
    if (!rounds || category(dtype) != Category::Float) return constant(dtype, bits);
    return node(Op::cast, dtype, {&a, 1}, weak_result);  // C++ numbers take the precision that they are used in
  }
  if (n.op == Op::scalar) return scalar(dtype, scalar_use(n).arrives_as, scalar_use(n).number);
  return node(Op::cast, dtype, {&a, 1});
}

/// C++ numbers keep their type until it is known which operation uses them.
Operand Graph::cast_to_complex(Operand a, DType dtype) {
  const Node n = (*this)[a];
  const bool weak = operand_type(n).weak;
  if (!weak || n.op != Op::complex) return node(Op::cast, dtype, {&a, 1}, weak ? weak_result : 0);
  const std::array parts{operands(n)[0], operands(n)[1]};
  const std::array converted{cast(parts[0], real_of(dtype)), cast(parts[1], real_of(dtype))};
  return node(Op::complex, dtype, converted, n.attribute);
}

Operand Graph::explicit_cast(Operand a, DType dtype) {
  const Node n = (*this)[a];
  check_conversion(n.dtype, dtype);
  if (operand_type(n).weak) a = cast(a, dtype);
  return node(Op::cast, dtype, {&a, 1});
}

Operand Graph::apply(Op op, std::span<const Operand> operands, ReduceAxes along) {
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
  const std::uint64_t attribute = is_reduction(op) ? along.bits() : all_weak ? weak_result : 0;
  return node(op, t.result, std::span(converted).first(operands.size()), attribute);
}

Operand Graph::call(FunctionId function, std::span<const Operand> operands) {
  const FunctionSource& source = source_of(function);
  if (operands.size() != source.parameters.size())
    throw Error(fmt::format("{} takes {} operands, not {}", source.name, source.parameters.size(), operands.size()));
  std::array<Operand, max_arity> converted;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Node& n = (*this)[operands[i]];
    const DType to = source.parameters[i].dtype;
    if (!may_pass(operand_type(n), to)) throw_argument(source, i, operand_type(n));
    if (n.op == Op::constant && n.dtype == DType::Int64) check_fits(static_cast<std::int64_t>(n.attribute), to);
    converted[i] = cast(operands[i], to);
  }
  return node(Op::call, source.result, std::span(converted).first(operands.size()),
              static_cast<std::uint64_t>(function));
}

Shape reduced_shape(const Shape& operand, ReduceAxes along) {
  Shape shape;
  for (int axis = 0; axis < operand.ndim(); ++axis) {
    const bool reduced = along.axes >> (operand.ndim() - 1 - axis) & 1;
    if (!reduced)
      shape.push_back(operand[axis]);
    else if (along.keeps)
      shape.push_back(1);
  }
  return shape;
}

ScalarUse scalar_use(const Node& n) noexcept {
  return {static_cast<std::uint32_t>(n.attribute), static_cast<Category>(n.attribute >> 32)};
}

Hash hash(const Graph& graph) noexcept {
  static_assert(std::has_unique_object_representations_v<Node> && std::has_unique_object_representations_v<Operand>);
  // An operation's operands are [first, first + arity) of one array, so nodes, operands and outputs are everything.
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
  std::vector<NodeId> remap(nodes.size(), -1);
  const auto map = [&](Operand o) { return Operand{remap[static_cast<std::size_t>(o.node)], o.output}; };
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!needed[i]) continue;
    operands.clear();
    for (Operand o : graph.operands(nodes[i])) operands.push_back(map(o));
    remap[i] = part.node(nodes[i].op, nodes[i].dtype, operands, nodes[i].attribute).node;
  }
  for (std::uint32_t o : outputs) part.output(map(graph.outputs()[o]));
  return part;
}

}  // namespace sinter::inline v1::jit
