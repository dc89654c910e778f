#include "c_expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <utility>

#include "../cuda/expression.hpp"
#include "../plan/faults.hpp"
#include "../plan/parameters.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

bool is_word(char c) noexcept { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Whether a body is sums and products of its operands alone, which integers compute unsigned.
bool is_ring_expression(std::string_view body) noexcept {
  return body.find_first_not_of("abc +-*") == std::string_view::npos;
}

/// Whether the C library has the function, for float and double.
bool is_in_libm(std::string_view function) noexcept {
  for (int op = 0; op < op_count; ++op)
    if (has(static_cast<Op>(op), Libm) && name(static_cast<Op>(op)) == function) return true;
  return false;
}

std::string function_name(std::string_view word, DType compute) {
  if (word == "select") return "sinter_select";
  if (category(compute) == Category::Float && is_in_libm(word))
    return fmt::format("{}{}", word, compute == DType::Float32 ? "f" : "");
  return fmt::format("sinter_{}_{}", word, short_name(compute));
}

std::string substitute(std::string_view body, DType compute, const std::vector<std::string>& operands) {
  std::string out;
  for (std::size_t i = 0; i < body.size();) {
    std::size_t end = i;
    while (end < body.size() && (is_word(body[end]) || (body[end] == '.' && end > i))) ++end;
    if (end == i) {
      out += body[i++];
      continue;
    }
    const std::string_view word = body.substr(i, end - i);
    const std::size_t operand = word.size() == 1 ? static_cast<std::size_t>(word[0] - 'a') : operands.size();
    if (operand < operands.size())
      out += operands[operand];
    else if (word == "T")
      out += fmt::format("sinter_{}", short_name(compute));
    else if (end < body.size() && body[end] == '(')
      out += function_name(word, compute);
    else
      out += word;
    i = end;
  }
  return out;
}

std::string c_literal(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::Float16:
    case DType::BFloat16: return fmt::format("(uint16_t){:#x}", static_cast<std::uint16_t>(bits));
    case DType::Float32: {
      const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      if (!std::isfinite(value)) return fmt::format("sinter_float_bits({:#x}u)", static_cast<std::uint32_t>(bits));
      break;
    }
    case DType::Float64:
      if (!std::isfinite(std::bit_cast<double>(bits))) return fmt::format("sinter_double_bits({:#x}ull)", bits);
      break;
    default: break;
  }
  return cuda::literal(dtype, bits);
}

std::string decimal(DType dtype, std::uint64_t bits) {
  if (dtype == DType::Float64) return fmt::format("{}", std::bit_cast<double>(bits));
  return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(convert_bits(bits, dtype, DType::Float32))));
}

}  // namespace

std::string_view memory_type(DType dtype) noexcept {
  switch (dtype) {
    case DType::Bool:
    case DType::UInt8: return "uint8_t";
    case DType::Int8: return "int8_t";
    case DType::Int16: return "int16_t";
    case DType::Float16:
    case DType::BFloat16: return "uint16_t";
    case DType::Complex64:
    case DType::Complex128: return value_type(real_of(dtype));
    default: return value_type(dtype);
  }
}

std::string_view element_type(DType dtype) noexcept {
  return is_complex(dtype) ? value_type(dtype) : memory_type(dtype);
}

std::size_t cpu_alignment(DType dtype) noexcept { return is_complex(dtype) ? size_of(dtype) / 2 : size_of(dtype); }

std::string_view value_type(DType dtype) noexcept {
  switch (dtype) {
    case DType::Bool: return "bool";
    case DType::Int32: return "int32_t";
    case DType::Int64: return "int64_t";
    case DType::Float32: return "float";
    case DType::Float64: return "double";
    case DType::Complex64: return "sinter_complex64";
    case DType::Complex128: return "sinter_complex128";
    default: return memory_type(dtype);
  }
}

std::string_view short_name(DType dtype) noexcept {
  switch (dtype) {
    case DType::Bool: return "b8";
    case DType::Int32: return "i32";
    case DType::Int64: return "i64";
    case DType::Float16: return "f16";
    case DType::BFloat16: return "bf16";
    case DType::Float32: return "f32";
    case DType::Float64: return "f64";
    default: return "stored";
  }
}

std::string c_operation(Op op, DType compute, const std::vector<std::string>& operands) {
  const std::string_view body = sinter::body(op);
  if (compute == DType::Bool && op == Op::add) return fmt::format("{} | {}", operands[0], operands[1]);
  if (compute == DType::Bool && op == Op::mul) return fmt::format("{} & {}", operands[0], operands[1]);
  if (category(compute) != Category::Int || !is_ring_expression(body)) return substitute(body, compute, operands);
  std::vector<std::string> as_unsigned;
  for (const std::string& o : operands) as_unsigned.push_back(fmt::format("(u{}){}", value_type(compute), o));
  return fmt::format("({})({})", value_type(compute), substitute(body, compute, as_unsigned));
}

std::string c_conversion(DType from, DType to, const std::string& value) {
  if (from == DType::Float16 || from == DType::BFloat16)
    return c_conversion(DType::Float32, to, fmt::format("sinter_{}_to_f32({})", short_name(from), value));
  if (from == to) return value;
  if (to == DType::Float16 || to == DType::BFloat16)
    return fmt::format("sinter_f32_to_{}({})", short_name(to), c_conversion(from, DType::Float32, value));
  if (to == DType::Bool) return value + " != 0";
  if (category(from) == Category::Float && category(to) == Category::Int)
    return fmt::format("sinter_{}_to_{}({})", short_name(from), short_name(to), value);
  return fmt::format("({}){}", value_type(to), value);
}

CWriter::CWriter(const Model& model, const Kernel& kernel, std::vector<std::string> inputs, std::string indent)
    : model_(model),
      graph_(kernel.graph),
      inputs_(std::move(inputs)),
      names_(graph_.nodes().size()),
      indent_(std::move(indent)) {}

void CWriter::write(const std::vector<bool>& nodes) {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (nodes[i] && names_[i].empty()) node(i);
}

void CWriter::node(std::size_t i) {
  const Node& n = graph_.nodes()[i];
  const auto operands = graph_.operands(n);
  switch (n.op) {
    case Op::leaf:
      if (n.dtype == DType::Bool) return assign(i, inputs_[n.attribute] + " != 0");
      names_[i] = inputs_[n.attribute];
      return;
    case Op::index: names_[i] = inputs_[n.attribute]; return;
    case Op::array: names_[i] = inputs_[n.attribute] + "_data"; return;
    case Op::load:
      return assign(
          i, fmt::format("{}[{}]{}", name(operands[0]), name(operands[1]), n.dtype == DType::Bool ? " != 0" : ""));
    case Op::real:
      if (!is_complex(graph_[operands[0]].dtype)) break;
      return assign(i, name(operands[0]) + ".re");
    case Op::imag: return assign(i, name(operands[0]) + ".im");
    case Op::complex: return assign(i, fmt::format("{{{}, {}}}", name(operands[0]), name(operands[1])));
    case Op::scalar: return assign(i, c_number(model_, n));
    case Op::constant:
      return assign(i, c_literal(n.dtype, n.attribute),
                    category(n.dtype) == Category::Float ? decimal(n.dtype, n.attribute) : "");
    case Op::cast: return assign(i, c_conversion(graph_[operands[0]].dtype, n.dtype, name(operands[0])));
    case Op::count: return assign(i, "columns");
    default: break;
  }
  if (const auto divisor = nonzero_operand(graph_, n))
    out_ += fmt::format("{}if ({} == 0) *faults |= 1;\n", indent_, name(*divisor));
  if (has(n.op, Indexes))
    out_ += fmt::format("{0}if ({1} < {2} || {1} >= {3}) *faults |= 2;\n", indent_, name(operands[0]),
                        has(n.op, CountsFromEnd) ? "-" + name(operands[1]) : "0", name(operands[1]));
  std::vector<std::string> names;
  for (const Operand o : operands) names.push_back(name(o));
  assign(i, c_operation(n.op, graph_[operands.back()].dtype, names));
}

void CWriter::assign(std::size_t i, const std::string& value, std::string_view comment) {
  names_[i] = fmt::format("t{}", temporaries_++);
  out_ += fmt::format("{}const {} {} = {};", indent_, value_type(graph_.nodes()[i].dtype), names_[i], value);
  if (!comment.empty()) out_ += fmt::format(" /* {} */", comment);
  out_ += '\n';
}

std::string c_number(const Model& model, const Node& scalar) {
  const Number& n = model.number(scalar_use(scalar).number);
  if (n.extent != 0) return model.sizes->product(n.extent, "a->");
  if (n.name.empty()) return c_literal(scalar.dtype, scalar_word(n.value, n.category, scalar.dtype));
  return c_conversion(arriving_dtype(n.category), scalar.dtype, "a->" + n.name);
}

}  // namespace sinter::inline v1::jit::exporting
