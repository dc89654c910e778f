#include <sinter/dsl/reduce.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sinter::inline v1::detail {

bool find_axes(const Axes& axes, int ndim, std::uint8_t& mask) noexcept {
  const std::int64_t count = std::max(ndim, 1);
  mask = 0;
  for (const std::int64_t axis : axes.given()) {
    if (axis < -count || axis >= count) return false;
    const auto bit = static_cast<std::uint8_t>(1 << (axis < 0 ? -1 - axis : count - 1 - axis));
    if (mask & bit) return false;
    mask |= bit;
  }
  return true;
}

namespace {

IndexError named_twice(std::string_view operation, std::int64_t axis, const std::string& of) {
  return IndexError(fmt::format("{}: dim {} appears multiple times in the list of dims{}", operation, axis, of));
}

}  // namespace

std::uint8_t axes_from_end(std::string_view operation, const Axes& axes) {
  std::uint8_t mask = 0;
  for (const std::int64_t axis : axes.given()) {
    if (axis >= 0 || axis < -max_ndim)
      throw IndexError(
          fmt::format("{}: axis {} of an operand of let or function, whose shape is not known inside the body: count "
                      "from the end, from -1 for the last axis to at most -{}",
                      operation, axis, max_ndim));
    const auto bit = static_cast<std::uint8_t>(1 << (-1 - axis));
    if (mask & bit) throw named_twice(operation, axis, "");
    mask |= bit;
  }
  return mask;
}

void throw_wrong_axes(std::string_view operation, const Axes& axes, const OperandInfo& x) {
  const std::int64_t count = std::max(x.shape.ndim(), 1);
  unsigned seen = 0;
  for (const std::int64_t axis : axes.given()) {
    if (axis < -count || axis >= count)
      throw IndexError(
          fmt::format("{}: Dimension out of range (expected to be in range of [{}, {}], but got {}) for {}", operation,
                      -count, count - 1, axis, describe(x)));
    const std::int64_t from_start = axis < 0 ? axis + count : axis;
    if (seen >> from_start & 1) throw named_twice(operation, from_start, fmt::format(" for {}", describe(x)));
    seen |= 1u << from_start;
  }
  throw Error(fmt::format("{}: each axis may be given only once, for {}", operation, describe(x)));
}

void check_has_elements(std::string_view operation, jit::ReduceAxes along, const OperandInfo& x) {
  for (int axis = 0; axis < x.shape.ndim(); ++axis)
    if (x.shape[axis] == 0 && along.axes >> (x.shape.ndim() - 1 - axis) & 1)
      throw IndexError(
          fmt::format("{}: Expected reduction dim {} to have non-zero size, for {}: without elements there is no "
                      "largest or smallest one",
                      operation, axis, describe(x)));
}

}  // namespace sinter::inline v1::detail
