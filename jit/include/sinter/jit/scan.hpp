// Inclusive scans along an axis: each result combines all elements up to its position.
#pragma once
#include <cstdint>

#include <sinter/jit/sort.hpp>

namespace sinter::inline v1::jit {

enum class Scan : std::uint8_t { Sum, Prod, LogSumExp };
enum class Extreme : std::uint8_t { Max, Min };

/// Bool and integers give int64, which wraps; others keep their dtype. Floats accumulate in double, half and bfloat16
/// in float, and each result is rounded once. LogSumExp accepts only floats.
/// Throws IndexError, DTypeError, OutOfMemory, CompileError, CudaError.
runtime::TensorRef scan(runtime::TensorImpl& x, std::int64_t axis, Scan what);

/// The largest or smallest element so far and its position along the axis, the last of equal ones. NaN is above
/// everything for the largest and below everything for the smallest. Throws what scan throws, and DTypeError for
/// complex numbers.
ValuesAndIndices scan(runtime::TensorImpl& x, std::int64_t axis, Extreme what);

}  // namespace sinter::inline v1::jit
