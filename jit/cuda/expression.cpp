#include "expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "../plan/faults.hpp"
#include "prelude.hpp"
#include "source.hpp"

namespace sinter::inline v1::jit::cuda {
namespace {

constexpr std::string_view word_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/// Whether a body is sums and products of its operands alone: what signed integers must compute as unsigned ones, since
/// C++ defines their overflow there only.
bool is_ring_expression(std::string_view body) noexcept {
  return body.find_first_not_of("abc +-*") == std::string_view::npos;
}

/// The body of ops.def with its operands' names for a, b, c and the type's name for T.
std::string substitute(std::string_view body, std::string_view type, std::span<const std::string> operands) {
  std::string out;
  while (!body.empty()) {
    const std::size_t skipped = std::min(body.find_first_of(word_characters), body.size());
    out.append(body.substr(0, skipped));
    body.remove_prefix(skipped);
    const std::size_t length = std::min(body.find_first_not_of(word_characters), body.size());
    const std::string_view word = body.substr(0, length);
    const std::size_t operand = word.size() == 1 ? static_cast<std::size_t>(word[0] - 'a') : operands.size();
    if (operand < operands.size())
      out.append(operands[operand]);
    else
      out.append(word == "T" ? type : word);
    body.remove_prefix(length);
  }
  return out;
}

std::string float_literal(double value, bool single) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, std::fabs(value), std::chars_format::hex).ptr;
  return fmt::format("{}0x{}{}", std::signbit(value) ? "-" : "", std::string_view(digits, end), single ? "f" : "");
}

/// The same in decimal, for readers.
std::string shortest(DType dtype, std::uint64_t bits) {
  return dtype == DType::Float64
             ? fmt::format("{}", std::bit_cast<double>(bits))
             : fmt::format("{}",
                           std::bit_cast<float>(static_cast<std::uint32_t>(convert_bits(bits, dtype, DType::Float32))));
}

}  // namespace

std::string_view storage_type(DType dtype) noexcept {
  return dtype == DType::Bool ? "unsigned char" : info(dtype).cuda_name;
}

std::string_view word_type(DType dtype) noexcept { return dtype == DType::Int64 ? "int64" : info(dtype).cuda_name; }

std::string operation(Op op, DType compute, std::vector<std::string> operands) {
  const std::string_view body = sinter::body(op);
  if (category(compute) != Category::Int || !is_ring_expression(body))
    return substitute(body, word_type(compute), operands);
  const bool word = compute == DType::Int32;
  for (std::string& o : operands) o = fmt::format("{}({})", word ? "unsigned" : "uint64", o);
  return fmt::format("{}({})", word ? "int" : "int64", substitute(body, "", operands));
}

Writer::Writer(const Kernel& kernel, std::vector<std::string> inputs)
    : graph_(kernel.graph), inputs_(std::move(inputs)), names_(graph_.nodes().size()) {
  int scalars = 0;
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (graph_.nodes()[i].op == Op::scalar) names_[i] = fmt::format("p.s{}", scalars++);
}

void Writer::write(const std::vector<bool>& nodes) {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (nodes[i] && names_[i].empty()) node(i);
}

void Writer::node(std::size_t i) {
  const Node& n = graph_.nodes()[i];
  switch (n.op) {
    case Op::leaf:
      if (n.dtype != DType::Bool)
        names_[i] = inputs_[n.attribute];
      else
        assign(i, inputs_[n.attribute] + " != 0");
      break;
    case Op::index:
    case Op::array: names_[i] = inputs_[n.attribute]; break;
    case Op::load: assign(i, load(n)); break;
    case Op::constant:
      assign(i, literal(n.dtype, n.attribute),
             category(n.dtype) == Category::Float ? shortest(n.dtype, n.attribute) : "");
      break;
    case Op::cast: assign(i, fmt::format("convert<{}>({})", word_type(n.dtype), name(graph_.operands(n)[0]))); break;
    case Op::count: assign(i, "int64(p.columns)"); break;
    default:
      if (const auto divisor = nonzero_operand(graph_, n)) out_ += fmt::format("  fault |= {} == 0;\n", name(*divisor));
      if (has(n.op, Indexes)) check_position(n);
      assign(i, elementwise(n));
  }
}

void Writer::check_position(const Node& n) {
  const std::string &position = name(graph_.operands(n)[0]), &extent = name(graph_.operands(n)[1]);
  out_ += fmt::format("  outside |= {0} < {1} || {0} >= {2};\n", position,
                      has(n.op, CountsFromEnd) ? "-" + extent : "0", extent);
}

std::string Writer::load(const Node& n) const {
  const auto operands = graph_.operands(n);
  return fmt::format("{}[{}]{}", name(operands[0]), name(operands[1]), n.dtype == DType::Bool ? " != 0" : "");
}

std::string Writer::elementwise(const Node& n) const {
  std::vector<std::string> operands;
  for (const Operand o : graph_.operands(n)) operands.push_back(name(o));
  return operation(n.op, graph_[graph_.operands(n).back()].dtype, std::move(operands));
}

void Writer::assign(std::size_t i, std::string_view value, std::string_view comment) {
  names_[i] = fmt::format("t{}", temporaries_++);
  out_ += fmt::format("  const {} {} = {};", word_type(graph_.nodes()[i].dtype), names_[i], value);
  if (!comment.empty()) out_ += fmt::format("  // {}", comment);
  out_ += '\n';
}

std::string literal(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::Bool: return bits ? "true" : "false";
    case DType::UInt8: return fmt::format("{}", static_cast<std::uint8_t>(bits));
    case DType::Int8: return fmt::format("{}", static_cast<std::int8_t>(bits));
    case DType::Int16: return fmt::format("{}", static_cast<std::int16_t>(bits));
    case DType::Float16:
    case DType::BFloat16: return fmt::format("{{{:#x}}}", static_cast<std::uint16_t>(bits));
    case DType::Int32: {
      const auto v = static_cast<std::int32_t>(bits);
      return v == INT32_MIN ? "(-2147483647 - 1)" : fmt::format("{}", v);
    }
    case DType::Int64: {
      const auto v = static_cast<std::int64_t>(bits);
      return v == INT64_MIN ? "(-9223372036854775807ll - 1)" : fmt::format("{}ll", v);
    }
    case DType::Float32: {
      const auto v = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      if (!std::isfinite(v)) return fmt::format("float_bits({:#x}u)", static_cast<std::uint32_t>(bits));
      return float_literal(static_cast<double>(v), true);
    }
    case DType::Float64: {
      const auto v = std::bit_cast<double>(bits);
      if (!std::isfinite(v)) return fmt::format("double_bits({:#x}ull)", bits);
      return float_literal(v, false);
    }
    case DType::Complex64:
    case DType::Complex128: break;  // no constant is complex
  }
  __builtin_unreachable();
}

std::string element_function(const Kernel& kernel, std::string_view params) {
  const Graph& graph = kernel.graph;
  std::vector<std::string> inputs(kernel.inputs.size());
  for (const Node& n : graph.nodes()) {
    if (n.op == Op::leaf || n.op == Op::index) inputs[n.attribute] = storage_type(n.dtype);
    if (n.op == Op::array) inputs[n.attribute] = fmt::format("const {}*", storage_type(n.dtype));
  }
  std::string out = fmt::format("SINTER_DEVICE void element(const {}& p", params);
  for (std::size_t k = 0; k < inputs.size(); ++k) out += fmt::format(", {} x{}", inputs[k], k);
  for (std::size_t k = 0; k < graph.outputs().size(); ++k)
    out += fmt::format(", {}& y{}", storage_type(graph[graph.outputs()[k]].dtype), k);
  const Faults faults = faults_of(graph);
  if (faults.division) out += ", bool& fault";
  if (faults.position) out += ", bool& outside";
  std::vector<std::string> names;
  for (std::size_t k = 0; k < inputs.size(); ++k) names.push_back(fmt::format("x{}", k));
  Writer writer(kernel, std::move(names));
  writer.write(std::vector<bool>(graph.nodes().size(), true));
  for (std::size_t k = 0; k < graph.outputs().size(); ++k)
    writer.line(fmt::format("y{} = {};", k, writer.name(graph.outputs()[k])));
  return out + ") {\n" + writer.take() + "}\n";
}

}  // namespace sinter::inline v1::jit::cuda
