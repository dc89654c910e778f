// How exactly matrices are multiplied.
#pragma once
#include <string_view>

namespace sinter::inline v1 {

/// What products of float32 and complex64 matrices may round their elements to on a GPU: "highest", to nothing, which
/// is so at the start; "high" or "medium", to TF32, with 10 bits of mantissa instead of 23, which tensor cores multiply
/// several times as fast. Sums are made in float32 all the same. Of products that are evaluated from now on, in all
/// threads. Throws Error for another word.
void set_float32_matmul_precision(std::string_view precision);
std::string_view float32_matmul_precision() noexcept;

}  // namespace sinter::inline v1
