#include "checked_axis.hpp"

#include <fmt/format.h>

#include <string>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::detail {

namespace {

[[noreturn]] void throw_no_axis(const char* what, std::int64_t axis, int ndim, const std::string& of) {
  if (ndim == 0)
    throw IndexError(fmt::format("{}: dimension out of range (there is none, but got {}) for {}", what, axis, of));
  throw IndexError(fmt::format("{}: dimension out of range (expected to be in range of [{}, {}], but got {}) for {}",
                               what, -ndim, ndim - 1, axis, of));
}

bool is_there(std::int64_t axis, int ndim) noexcept { return -ndim <= axis && axis < ndim; }
int from_start(std::int64_t axis, int ndim) noexcept { return static_cast<int>(axis < 0 ? axis + ndim : axis); }

}  // namespace

int checked_axis(const char* what, std::int64_t axis, int ndim, const runtime::TensorImpl& of) {
  if (!is_there(axis, ndim)) throw_no_axis(what, axis, ndim, describe(of));
  return from_start(axis, ndim);
}

int checked_axis(const char* what, std::int64_t axis, int ndim, const Shape& of) {
  if (!is_there(axis, ndim)) throw_no_axis(what, axis, ndim, "shape " + to_string(of));
  return from_start(axis, ndim);
}

}  // namespace sinter::inline v1::detail
