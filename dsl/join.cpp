#include <sinter/dsl/join.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <runtime/different_devices.hpp>
#include <sinter/dsl/operand_info.hpp>
#include "checked_axis.hpp"

namespace sinter::inline v1::detail {

namespace {

std::string list(std::span<const Shape> shapes) {
  constexpr std::size_t most = 8;
  std::string out;
  for (std::size_t i = 0; i < std::min(shapes.size(), most); ++i)
    out += fmt::format("\n    {}: {}", i, to_string(shapes[i]));
  return out + (shapes.size() > most ? fmt::format("\n    ... {} in total", shapes.size()) : "");
}

/// Whether cat skips an operand, as PyTorch does: an empty one-dimensional tensor.
bool is_nothing(const Shape& shape) { return shape.ndim() == 1 && shape[0] == 0; }

}  // namespace

JoinLayout layout_of_cat(std::span<const Shape> parts, std::int64_t axis) {
  if (parts.empty()) throw ShapeError("cat: there is nothing to join; it takes at least one tensor");
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].ndim() == 0)
      throw ShapeError(
          fmt::format("cat: zero-dimensional tensor (at position {}) cannot be concatenated; stack adds an axis", i));
  const auto something = std::ranges::find_if_not(parts, is_nothing);
  JoinLayout layout{something == parts.end() ? parts[0] : *something, 0, {}};
  layout.axis = checked_axis("cat", axis, layout.shape.ndim(), layout.shape);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    layout.firsts.push_back(first);
    if (is_nothing(parts[i])) continue;
    Shape with = parts[i];
    if (with.ndim() == layout.shape.ndim()) with[layout.axis] = layout.shape[layout.axis];
    if (with != layout.shape)
      throw ShapeError(fmt::format(
          "cat: sizes of tensors must match except in dimension {}, but tensor {} of the list has shape {}{}",
          layout.axis, i, to_string(parts[i]), list(parts)));
    first += parts[i][layout.axis];
  }
  layout.shape[layout.axis] = first;
  return layout;
}

JoinLayout layout_of_stack(std::span<const Shape> parts, std::int64_t axis) {
  if (parts.empty()) throw ShapeError("stack: there is nothing to join; it takes at least one tensor");
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (parts[i] != parts[0])
      throw ShapeError(
          fmt::format("stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {}{}",
                      to_string(parts[0]), to_string(parts[i]), i, list(parts)));
  if (parts[0].ndim() == max_ndim)
    throw ShapeError(fmt::format("stack: a tensor has at most {} dimensions, so {} cannot get another", max_ndim,
                                 to_string(parts[0])));
  JoinLayout layout{Shape(), checked_axis("stack", axis, parts[0].ndim() + 1, parts[0]), {}};
  for (int i = 0; i <= parts[0].ndim(); ++i) {
    if (i == layout.axis) layout.shape.push_back(static_cast<std::int64_t>(parts.size()));
    if (i < parts[0].ndim()) layout.shape.push_back(parts[0][i]);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) layout.firsts.push_back(static_cast<std::int64_t>(i));
  return layout;
}

TensorRef place_of(const TensorImpl& whole, const JoinLayout& layout, std::size_t part, const Shape& shape) {
  if (shape.ndim() < whole.ndim() && !is_nothing(shape)) return select(whole, layout.axis, layout.firsts[part]);
  if (shape.ndim() < whole.ndim()) return runtime::empty(shape, whole.dtype, whole.device);
  return narrow(whole, layout.axis, layout.firsts[part], shape[layout.axis]);
}

jit::Pullback rolled_back(const Shape& shifts, const Shape& axes) {
  Shape back;
  for (const std::int64_t shift : shifts) back.push_back(-shift);
  return [=](const jit::LazyRef& gradient) { return std::vector{roll(Lazy<AnyType>(gradient), back, axes).node()}; };
}

std::vector<jit::LazyRef> parts_of_gradient(const jit::LazyRef& gradient, const JoinLayout& layout,
                                            std::span<const Shape> parts) {
  const auto views = [&](const TensorImpl& whole) {
    std::vector<TensorRef> places;
    for (std::size_t i = 0; i < parts.size(); ++i) places.push_back(place_of(whole, layout, i, parts[i]));
    return places;
  };
  std::vector<jit::LazyRef> gradients;
  for (const Lazy<AnyType>& part : parts_of(Lazy<AnyType>(gradient), views)) gradients.push_back(part.node());
  return gradients;
}

jit::LazyRef join_values(JoinLayoutOf layout_of, std::int64_t axis, std::span<const jit::LazyRef> parts,
                         std::span<const Shape> shapes) {
  const JoinLayout layout = layout_of(shapes, axis);
  DType dtype = parts[0]->dtype();
  const Device device = parts[0]->device();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    dtype = promote(dtype, parts[i]->dtype());
    if (parts[i]->device() != device)
      runtime::throw_different_devices(
          device, parts[i]->device(),
          fmt::format("in a list of tensors to join, where\n    one: {}\n    another: {}",
                      describe(OperandInfo{shapes[0], parts[0]->dtype(), device}),
                      describe(OperandInfo{shapes[i], parts[i]->dtype(), parts[i]->device()})));
  }
  const TensorRef whole = runtime::empty(layout.shape, dtype, device);
  std::vector<TensorRef> places;
  for (std::size_t i = 0; i < parts.size(); ++i) places.push_back(place_of(*whole, layout, i, shapes[i]));
  jit::evaluate(parts, places.data());
  const auto pullback = [layout, all = std::vector<Shape>(shapes.begin(), shapes.end())](const jit::LazyRef& gradient) {
    return parts_of_gradient(gradient, layout, all);
  };
  return with_history(whole, {parts.begin(), parts.end()}, pullback);
}

TensorRef join_arrays(JoinLayoutOf layout_of, std::int64_t axis, std::span<TensorImpl* const> parts) {
  std::vector<Shape> shapes;
  for (const TensorImpl* part : parts) shapes.push_back(part->shape);
  const JoinLayout layout = layout_of(shapes, axis);
  DType dtype = parts[0]->dtype;
  for (const TensorImpl* part : parts) {
    dtype = promote(dtype, part->dtype);
    if (part->device != parts[0]->device)
      runtime::throw_different_devices(parts[0]->device, part->device,
                                       fmt::format("in a list of tensors to join, where\n    one: {}\n    another: {}",
                                                   describe(*parts[0]), describe(*part)));
  }
  const TensorRef whole = runtime::empty(layout.shape, dtype, parts[0]->device);
  for (std::size_t i = 0; i < parts.size(); ++i) jit::copy(*place_of(*whole, layout, i, shapes[i]), *parts[i]);
  return whole;
}

std::vector<RolledPart> rolled_parts(const Shape& shape, std::span<const std::int64_t> shifts,
                                     std::span<const std::int64_t> axes) {
  if (shifts.size() != axes.size())
    throw ShapeError(
        fmt::format("roll: shifts and dimensions must align. shifts: {}, dims: {}", shifts.size(), axes.size()));
  std::vector<std::int64_t> by(static_cast<std::size_t>(shape.ndim()), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = checked_axis("roll", axes[i], shape.ndim(), shape);
    std::int64_t& shift = by[static_cast<std::size_t>(axis)];
    if (shape[axis] > 0) shift = ((shift + shifts[i] % shape[axis]) % shape[axis] + shape[axis]) % shape[axis];
  }
  std::vector<RolledPart> parts(1);
  for (int axis = 0; axis < shape.ndim(); ++axis) {
    const std::int64_t n = shape[axis], shift = by[static_cast<std::size_t>(axis)];
    std::vector<RolledPart> cut;
    const auto add = [&](range from, range to) {
      for (RolledPart part : parts) {
        part.from.push_back(from);
        part.to.push_back(to);
        cut.push_back(std::move(part));
      }
    };
    add(range(0, n - shift), range(shift, n));
    if (shift > 0) add(range(n - shift, n), range(0, shift));
    parts = std::move(cut);
  }
  return parts;
}

TensorRef slices(const TensorImpl& x, const std::vector<range>& ranges) {
  TensorRef part = runtime::view(x, x.shape, x.strides);
  for (std::size_t axis = 0; axis < ranges.size(); ++axis)
    part = slice(*part, static_cast<std::int64_t>(axis), ranges[axis]);
  return part;
}

}  // namespace sinter::inline v1::detail
