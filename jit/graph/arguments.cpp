#include "arguments.hpp"

#include <fmt/format.h>

#include <bit>
#include <type_traits>
#include <utility>

#include <sinter/jit/graph.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::jit {
namespace {

void check_not_negative(const char* call, const char* parameter, std::optional<double> value) {
  if (!value || *value >= 0) return;
  throw Error(
      fmt::format("{0}: {1} is {2}, but must not be negative: it is the largest difference allowed\n  With {1}=0 "
                  "only equal values are close",
                  call, parameter, *value));
}

}  // namespace

bool limits_arguments(Op op) noexcept { return op == Op::hardtanh || op == Op::isclose; }

double number_of(std::uint64_t bits, DType dtype) noexcept {
  return std::bit_cast<double>(convert_bits(bits, dtype, DType::Float64));
}

void check_fits(std::int64_t value, DType dtype) {
  if (category(dtype) != Category::Int) return;
  const bool fits = visit(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (category(dtype_of<T>) == Category::Int) return std::in_range<T>(value);
    return true;
  });
  if (fits) return;
  throw Error(
      fmt::format("the number {0} does not fit {1}, the dtype of the tensor that it is combined with; convert the "
                  "tensor first, with .to<std::int64_t>()",
                  value, name(dtype)));
}

void check_arguments(Op op, std::span<const std::optional<double>> operands) {
  if (op == Op::isclose) {
    check_not_negative("isclose", "rtol", operands[2]);
    check_not_negative("isclose", "atol", operands[3]);
  }
  if (op == Op::hardtanh && operands[1] && operands[2] && *operands[1] > *operands[2])
    throw Error(fmt::format(
        "hardtanh: min_val is {} and max_val is {}, but min_val must not exceed max_val\n  Swap them, or use "
        "clamp(x, min, max), which returns max in this case",
        *operands[1], *operands[2]));
}

}  // namespace sinter::inline v1::jit
