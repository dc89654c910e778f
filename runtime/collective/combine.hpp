// Combines elements on the host.
#pragma once
#include <cstddef>
#include <span>

#include <sinter/runtime/communicator.hpp>

namespace sinter::inline v1::runtime {

/// The dtype that combinations are made in: float32 for 16-bit floats, itself for others.
constexpr DType combined_in(DType t) noexcept {
  return t == DType::Float16 || t == DType::BFloat16 ? DType::Float32 : t;
}

/// `to`, of combined_in(dtype), becomes the combination of all `from`, in their order; it may be the first of them
/// where the dtypes are equal. Integers wrap around; bool has "or" for sum and maximum, "and" for product and minimum.
/// A NaN makes a NaN, always the same one. Swapping two operands changes no bit.
void combine(DType dtype, Combine how, std::byte* to, std::span<const std::byte* const> from, std::int64_t count);

/// From combined_in(dtype) to dtype, rounded once; they may be in one place.
void narrow(DType dtype, std::byte* to, const std::byte* from, std::int64_t count);

}  // namespace sinter::inline v1::runtime
