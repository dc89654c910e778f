#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include <sinter/dsl/export.hpp>
#include <sinter/dsl/extents.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::detail {

namespace {

std::string to_string(const StaticShape& extents) {
  std::vector<std::string> all;
  for (int i = 0; i < extents.ndim; ++i)
    all.push_back(extents.extents[i] == dyn ? "dyn" : std::to_string(extents.extents[i]));
  return fmt::format("Extents<{}>", fmt::join(all, ", "));
}

}  // namespace

void check_extents(const Shape& shape, const StaticShape& wanted) {
  if (shape.ndim() != wanted.ndim)
    throw ShapeError(fmt::format("a tensor of the shape {} has {} axes, but {} in a tensor's type has {}",
                                 sinter::to_string(shape), shape.ndim(), to_string(wanted), wanted.ndim));
  for (int i = 0; i < wanted.ndim; ++i)
    if (wanted.extents[i] != dyn && wanted.extents[i] != shape[i])
      throw ShapeError(
          fmt::format("a tensor of the shape {} has {} positions along axis {}, but {} in a tensor's type "
                      "has {}",
                      sinter::to_string(shape), shape[i], i, to_string(wanted), wanted.extents[i]));
}

void fix_extents(jit::Export& kernel, std::span<runtime::TensorImpl* const> leaves,
                 std::span<const StaticShape> types) {
  const std::vector<runtime::TensorImpl*>& inputs = kernel.expression.leaves;
  auto& sizes = kernel.options.sizes;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const auto input = static_cast<std::size_t>(std::ranges::find(inputs, leaves[i]) - inputs.begin());
    if (sizes.size() <= input) sizes.resize(input + 1);
    std::vector<std::string>& names = sizes[input];
    for (int axis = 0; axis < types[i].ndim; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      if (names.size() <= a) names.resize(a + 1);
      const std::int64_t extent = types[i].extents[axis];
      if (names[a].empty() && extent > 1) names[a] = std::to_string(extent);
    }
  }
}

}  // namespace sinter::inline v1::detail
