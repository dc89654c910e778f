// Axes as users name them: negative ones count from the end.
#pragma once
#include <cstdint>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::detail {

/// The axis counted from 0, of `rank` axes: those of what `of` is, or that it gets. Throws IndexError that names the
/// operation, the axis, the axes that there are and the operand.
int checked_axis(const char* what, std::int64_t axis, int rank, const runtime::TensorImpl& of);
int checked_axis(const char* what, std::int64_t axis, int rank, const Shape& of);

inline int checked_axis(const char* what, std::int64_t axis, const runtime::TensorImpl& of) {
  return checked_axis(what, axis, of.rank(), of);
}

}  // namespace sinter::inline v1::detail
