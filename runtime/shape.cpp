#include <sinter/runtime/error.hpp>
#include <sinter/runtime/shape.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace sinter::inline v1 {

Shape::Shape(std::span<const std::int64_t> extents) : ndim_(checked_ndim(extents.size())) {
  std::ranges::copy(extents, extents_.begin());
}

void Shape::throw_axis(int axis, int ndim) {
  if (ndim == 0) throw IndexError(fmt::format("shape[{}]: a 0-d tensor's shape has no axes", axis));
  throw IndexError(
      fmt::format("shape[{}]: a shape of {} dimensions has the axes {} to {}", axis, ndim, -ndim, ndim - 1));
}

void Shape::push_back(std::int64_t extent) {
  if (ndim_ == max_ndim)
    throw ShapeError(
        fmt::format("cannot add a dimension of extent {1} to shape {0}: a tensor has at most {2} dimensions",
                    to_string(*this), extent, max_ndim));
  extents_[ndim_++] = extent;
}

void Shape::throw_ndim(std::size_t n) {
  throw ShapeError(fmt::format("a shape of {} dimensions was requested: a tensor has at most {}", n, max_ndim));
}

std::string to_string(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.ndim() == 1 ? "," : "");
}

void check_shape(const Shape& shape, std::size_t element_size) {
  if (std::ranges::any_of(shape, [](std::int64_t e) { return e < 0; }))
    throw ShapeError(fmt::format("shape {} has a negative extent", to_string(shape)));
  // Skips extents of 0, so that strides cannot overflow either.
  std::int64_t bytes = static_cast<std::int64_t>(element_size);
  for (std::int64_t e : shape) {
    if (e == 0 || !__builtin_mul_overflow(bytes, e, &bytes)) continue;
    double all = static_cast<double>(element_size);
    for (std::int64_t extent : shape) all *= static_cast<double>(std::max<std::int64_t>(extent, 1));
    throw ShapeError(fmt::format(
        "shape {} with elements of {} bytes is too large: it takes {:.4g} bytes, and a tensor has at most {}",
        to_string(shape), element_size, all, std::numeric_limits<std::int64_t>::max()));
  }
}

Shape contiguous_strides(const Shape& shape) noexcept {
  Shape strides = shape;
  std::uint64_t step = 1;  // unsigned: unchecked shapes may overflow
  for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
    strides[axis] = static_cast<std::int64_t>(step);
    step *= static_cast<std::uint64_t>(std::max<std::int64_t>(shape[axis], 1));
  }
  return strides;
}

bool broadcast(Shape& into, const Shape& with) noexcept {
  const int lead = into.ndim() - with.ndim();
  if (lead < 0) {
    Shape longer = with;
    if (!broadcast(longer, into)) return false;
    into = longer;
    return true;
  }
  const std::int64_t *a = into.begin() + lead, *b = with.begin();
  for (int axis = 0; axis < with.ndim(); ++axis)  // checked first, so that `into` is unchanged on failure
    if (a[axis] != b[axis] && a[axis] != 1 && b[axis] != 1) return false;
  for (int axis = 0; axis < with.ndim(); ++axis)
    if (a[axis] == 1) into[lead + axis] = b[axis];
  return true;
}

}  // namespace sinter::inline v1
