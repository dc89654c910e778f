#include "checked_axis.hpp"

#include <fmt/format.h>

#include <string>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::detail {

namespace {

[[noreturn]] void throw_no_axis(const char* what, std::int64_t axis, int rank, const std::string& of) {
  if (rank == 0)
    throw IndexError(fmt::format("{}: dimension out of range (there is none, but got {}) for {}", what, axis, of));
  throw IndexError(fmt::format("{}: dimension out of range (expected to be in range of [{}, {}], but got {}) for {}",
                               what, -rank, rank - 1, axis, of));
}

bool is_there(std::int64_t axis, int rank) noexcept { return -rank <= axis && axis < rank; }
int from_start(std::int64_t axis, int rank) noexcept { return static_cast<int>(axis < 0 ? axis + rank : axis); }

}  // namespace

int checked_axis(const char* what, std::int64_t axis, int rank, const runtime::TensorImpl& of) {
  if (!is_there(axis, rank)) throw_no_axis(what, axis, rank, describe(of));
  return from_start(axis, rank);
}

int checked_axis(const char* what, std::int64_t axis, int rank, const Shape& of) {
  if (!is_there(axis, rank)) throw_no_axis(what, axis, rank, "shape " + to_string(of));
  return from_start(axis, rank);
}

}  // namespace sinter::inline v1::detail
