// Running results along an axis: what is at a position is made of all elements up to it.
#pragma once
#include <cstdint>

#include <sinter/jit/sort.hpp>

namespace sinter::inline v1::jit {

enum class Scan : std::uint8_t { Sum, Prod, LogSumExp };
enum class Extreme : std::uint8_t { Max, Min };

/// Bool and integers give int64, which wraps; others their own dtype. Floats accumulate in double and half and bfloat16
/// in float, and each result is rounded once. LogSumExp takes floats alone.
/// Throws IndexError, DtypeError, OutOfMemory, CompileError, CudaError.
runtime::TensorRef scan(runtime::TensorImpl& x, std::int64_t axis, Scan what);

/// The largest or smallest so far and where along the axis it is, the last of equal ones. NaN is above and below
/// everything. Throws as scan, DtypeError for complex numbers.
ValuesAndIndices scan(runtime::TensorImpl& x, std::int64_t axis, Extreme what);

}  // namespace sinter::inline v1::jit
