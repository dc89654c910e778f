#include "c_expression.hpp"

#include <fmt/format.h>

#include "../cuda/expression.hpp"
#include "../plan/parameters.hpp"

namespace sinter::inline v1::jit::exporting {
namespace {

bool is_half(DType dtype) noexcept { return dtype == DType::Float16 || dtype == DType::BFloat16; }

}  // namespace

std::string_view memory_type(DType dtype) noexcept {
  switch (dtype) {
    case DType::Bool:
    case DType::UInt8: return "uint8_t";
    case DType::Int8: return "int8_t";
    case DType::UInt16: return "uint16_t";
    case DType::Int16: return "int16_t";
    case DType::UInt32: return "uint32_t";
    case DType::UInt64: return "uint64_t";
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
    case DType::UInt64: return "u64";
    case DType::Int64: return "i64";
    case DType::Float16: return "f16";
    case DType::BFloat16: return "bf16";
    case DType::Float32: return "f32";
    case DType::Float64: return "f64";
    default: return "stored";
  }
}

std::string c_literal(DType dtype, std::uint64_t bits) {
  if (is_half(dtype)) return fmt::format("(uint16_t){:#x}", static_cast<std::uint16_t>(bits));
  if (dtype == DType::Bool) return fmt::format("sinter_b8({})", bits != 0 ? 1 : 0);  // compilers warn of x < false
  const std::string number = cuda::literal(dtype, bits);
  const bool is_call = number.starts_with("float_bits") || number.starts_with("double_bits");
  return is_call ? fmt::format("sinter_value_{}{}", short_name(dtype), number.substr(number.find('('))) : number;
}

std::string c_conversion(DType from, DType to, const std::string& value) {
  if (is_half(from))
    return c_conversion(DType::Float32, to, fmt::format("sinter_{}_to_f32({})", short_name(from), value));
  if (from == to) return value;
  if (is_half(to))
    return fmt::format("sinter_f32_to_{}({})", short_name(to), c_conversion(from, DType::Float32, value));
  if (to == DType::Bool) return value + " != 0";
  if (category(from) == Category::Float && category(to) == Category::Int)
    return fmt::format("sinter_{}_to_{}({})", short_name(from), short_name(to), value);
  return fmt::format("({}){}", value_type(to), value);
}

std::string c_scalar(const Model& model, const Node& scalar) {
  const ScalarArgument& n = model.scalar(scalar_use(scalar).number);
  if (n.extent) return model.sizes->text(*n.extent, "a->");
  if (n.name.empty()) return c_literal(scalar.dtype, scalar_word(n.value, n.category, scalar.dtype));
  return c_conversion(arriving_dtype(n.category), scalar.dtype, "a->" + n.name);
}

}  // namespace sinter::inline v1::jit::exporting
