#include "expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "../faults.hpp"
#include "prelude.hpp"
#include "source.hpp"

namespace sinter::inline v1::jit::cuda {
namespace {

constexpr std::string_view word_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/// A type as one word, so that T(2) can be written.
std::string_view word_type(DType dtype) noexcept { return dtype == DType::Int64 ? "int64" : info(dtype).cuda_name; }

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

/// Writes one kernel's nodes in their order.
class Writer {
 public:
  explicit Writer(const Kernel& kernel) : graph_(kernel.graph), names_(graph_.nodes().size()) {}

  std::string assignments() {
    for (std::size_t i = 0; i < names_.size(); ++i) node(i);
    const std::span<const Operand> outputs = graph_.outputs();
    for (std::size_t k = 0; k < outputs.size(); ++k) out_ += fmt::format("  y{} = {};\n", k, name(outputs[k]));
    return std::move(out_);
  }

 private:
  const std::string& name(Operand a) const { return names_[static_cast<std::size_t>(a.node)]; }

  void node(std::size_t i) {
    const Node& n = graph_.nodes()[i];
    switch (n.op) {
      case Op::leaf:
        if (n.dtype != DType::Bool)
          names_[i] = fmt::format("x{}", n.attribute);
        else
          assign(i, fmt::format("x{} != 0", n.attribute));
        break;
      case Op::index: names_[i] = fmt::format("x{}", n.attribute); break;
      case Op::scalar: names_[i] = fmt::format("p.s{}", scalars_++); break;
      case Op::constant:
        assign(i, literal(n.dtype, n.attribute),
               category(n.dtype) == Category::Float ? shortest(n.dtype, n.attribute) : "");
        break;
      case Op::cast: assign(i, fmt::format("convert<{}>({})", word_type(n.dtype), name(graph_.operands(n)[0]))); break;
      default:
        if (const auto divisor = nonzero_operand(graph_, n))
          out_ += fmt::format("  fault |= {} == 0;\n", name(*divisor));
        assign(i, operation(n));
    }
  }

  std::string operation(const Node& n) const {
    std::vector<std::string> operands;
    for (const Operand o : graph_.operands(n)) operands.push_back(name(o));
    const DType compute = graph_[graph_.operands(n).back()].dtype;
    const OpInfo& op = info(n.op);
    if (category(compute) != Category::Int || !is_ring_expression(op.body))
      return substitute(op.body, word_type(compute), operands);
    const bool word = compute == DType::Int32;
    for (std::string& o : operands) o = fmt::format("{}({})", word ? "unsigned" : "uint64", o);
    return fmt::format("{}({})", word ? "int" : "int64", substitute(op.body, "", operands));
  }

  void assign(std::size_t i, std::string_view value, std::string_view comment = {}) {
    names_[i] = fmt::format("t{}", temporaries_++);
    out_ += fmt::format("  const {} {} = {};", word_type(graph_.nodes()[i].dtype), names_[i], value);
    if (!comment.empty()) out_ += fmt::format("  // {}", comment);
    out_ += '\n';
  }

  const Graph& graph_;
  std::vector<std::string> names_;
  std::string out_;
  int temporaries_ = 0;
  int scalars_ = 0;
};

}  // namespace

std::string_view storage_type(DType dtype) noexcept {
  return dtype == DType::Bool ? "unsigned char" : info(dtype).cuda_name;
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
  }
  __builtin_unreachable();
}

std::string element_function(const Kernel& kernel, std::string_view params) {
  const Graph& graph = kernel.graph;
  std::vector<DType> inputs(kernel.inputs.size());
  for (const Node& n : graph.nodes())
    if (n.op == Op::leaf || n.op == Op::index) inputs[n.attribute] = n.dtype;
  std::string out = fmt::format("SINTER_DEVICE void element(const {}& p", params);
  for (std::size_t k = 0; k < inputs.size(); ++k) out += fmt::format(", {} x{}", storage_type(inputs[k]), k);
  for (std::size_t k = 0; k < graph.outputs().size(); ++k)
    out += fmt::format(", {}& y{}", storage_type(graph[graph.outputs()[k]].dtype), k);
  if (may_fault(graph)) out += ", bool& fault";
  return out + ") {\n" + Writer(kernel).assignments() + "}\n";
}

}  // namespace sinter::inline v1::jit::cuda
