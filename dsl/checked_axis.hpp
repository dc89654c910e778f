// User-specified axes: negative ones count from the end.
#pragma once
#include <cstdint>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::detail {

/// The axis counted from 0, among the `ndim` axes that `of` has or gets. Throws IndexError naming the operation, the
/// axis, the valid axes and the operand.
int checked_axis(const char* what, std::int64_t axis, int ndim, const runtime::TensorImpl& of);
int checked_axis(const char* what, std::int64_t axis, int ndim, const Shape& of);

inline int checked_axis(const char* what, std::int64_t axis, const runtime::TensorImpl& of) {
  return checked_axis(what, axis, of.ndim(), of);
}

}  // namespace sinter::inline v1::detail
