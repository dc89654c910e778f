// Precision of matrix products.
#pragma once
#include <string_view>

namespace sinter::inline v1 {

/// Sets what products of float32 and complex64 matrices may round their elements to on a GPU. "highest", the default:
/// no rounding. "high" or "medium": TF32, with 10 bits of mantissa instead of 23, which tensor cores multiply several
/// times as fast. Sums are still accumulated in float32. Applies to products evaluated from now on, in all threads.
/// Throws Error for any other word.
void set_float32_matmul_precision(std::string_view precision);
std::string_view float32_matmul_precision() noexcept;

}  // namespace sinter::inline v1
