// Elementwise reductions on the host.
#pragma once
#include <cstddef>
#include <span>

#include <sinter/runtime/communicator.hpp>

namespace sinter::inline v1::runtime {

/// The dtype in which elements are accumulated: float32 for 16-bit floats, else the dtype itself.
constexpr DType accumulation_dtype(DType t) noexcept {
  return t == DType::Float16 || t == DType::BFloat16 ? DType::Float32 : t;
}

/// `to`, of accumulation_dtype(dtype), becomes the reduction of all `from`, in order; it may be the first of them if
/// the dtypes are equal. Integers wrap; for bool, sum and maximum are "or", product and minimum "and". A NaN operand
/// gives the canonical NaN. The operators are commutative, bit for bit.
void combine(DType dtype, ReduceOp how, std::byte* to, std::span<const std::byte* const> from, std::int64_t count);

/// Converts from accumulation_dtype(dtype) to dtype, rounding once; the arrays may be the same.
void narrow(DType dtype, std::byte* to, const std::byte* from, std::int64_t count);

}  // namespace sinter::inline v1::runtime
