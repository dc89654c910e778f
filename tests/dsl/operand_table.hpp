// Operations and operands' dtypes, as named in the tables of promotion.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include <sinter/jit/ops.hpp>
#include "table.hpp"

namespace sinter::testing {

inline std::optional<Op> op_named(std::string_view text) {
  for (int i = 0; i < op_count; ++i)
    if (name(static_cast<Op>(i)) == text) return static_cast<Op>(i);
  return {};
}

/// A dtype, or a C++ number of a category: "*int".
inline OperandType parse_operand(const std::string& text) {
  if (text == "*bool") return {DType::Bool, true};
  if (text == "*int") return {DType::Int64, true};
  if (text == "*float") return {DType::Float32, true};
  if (text == "*complex") return {DType::Complex64, true};
  return {dtype_named(text)};
}

}  // namespace sinter::testing
