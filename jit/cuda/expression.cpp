#include "expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

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

}  // namespace

std::string_view storage_type(DType dtype) noexcept {
  return dtype == DType::Bool ? "unsigned char" : info(dtype).cuda_name;
}

std::string_view value_type(DType dtype) noexcept { return dtype == DType::Int64 ? "int64" : info(dtype).cuda_name; }

std::string operation(Op op, DType compute, std::vector<std::string> operands) {
  const std::string_view body = sinter::body(op);
  if (category(compute) != Category::Int || !is_ring_expression(body))
    return substitute(body, value_type(compute), operands);
  const bool word = compute == DType::Int32;
  for (std::string& o : operands) o = fmt::format("{}({})", word ? "unsigned" : "uint64", o);
  return fmt::format("{}({})", word ? "int" : "int64", substitute(body, "", operands));
}

std::string decimal(DType dtype, std::uint64_t bits) {
  return dtype == DType::Float64
             ? fmt::format("{}", std::bit_cast<double>(bits))
             : fmt::format("{}",
                           std::bit_cast<float>(static_cast<std::uint32_t>(convert_bits(bits, dtype, DType::Float32))));
}

std::string literal(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::Bool: return bits ? "true" : "false";
    case DType::UInt8: return fmt::format("{}", static_cast<std::uint8_t>(bits));
    case DType::Int8: return fmt::format("{}", static_cast<std::int8_t>(bits));
    case DType::UInt16: return fmt::format("{}", static_cast<std::uint16_t>(bits));
    case DType::Int16: return fmt::format("{}", static_cast<std::int16_t>(bits));
    case DType::UInt32: return fmt::format("{}u", static_cast<std::uint32_t>(bits));
    case DType::UInt64: return fmt::format("{}ull", bits);
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

}  // namespace sinter::inline v1::jit::cuda
