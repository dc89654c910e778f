#include <sinter/dsl/indexing.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <runtime/different_devices.hpp>
#include "checked_axis.hpp"
#include "iota.hpp"

namespace sinter::inline v1::detail {

namespace {

const char* name_of(GatherKind how) noexcept {
  switch (how) {
    case GatherKind::Rows: return "x[index]";
    case GatherKind::Embedding: return "embedding";
    case GatherKind::Select: return "index_select";
    case GatherKind::Gather: return "gather";
    case GatherKind::TakeAlongDim: break;
  }
  return "take_along_dim";
}

std::string operands(const TensorImpl& x, const OperandInfo& i) {
  return fmt::format("\n    x: {}\n    index: {}", describe(x), describe(i));
}

void check_integers(const char* what, const OperandInfo& i) {
  if (can_index(i.dtype)) return;
  throw DTypeError(fmt::format("{}: indices are integers that int64 holds, not {}; {}", what, name(i.dtype),
                               i.dtype == DType::Bool
                                   ? "the type of a mask must be bool: x[mask.as<bool>()], or masked_select(x, mask)"
                                   : "convert them with cast<std::int64_t>(index)"));
}

void check_operands(const char* what, const TensorImpl& x, const OperandInfo& i) {
  check_integers(what, i);
  if (x.device != i.device)
    runtime::throw_different_devices(x.device, i.device, fmt::format("in {}, where{}", what, operands(x, i)));
}

[[noreturn]] void throw_no_positions(const char* what, const TensorImpl& x, const OperandInfo& i) {
  throw IndexError(
      fmt::format("{}: there is no position to take an element from, where{}\n  Every index is out of range "
                  "for 0 positions: pass an x that has some, or no indices",
                  what, operands(x, i)));
}

[[noreturn]] void throw_shape(const char* what, const std::string& rule, const TensorImpl& x, const OperandInfo& i) {
  throw ShapeError(fmt::format("{}: {}, where{}\n  Bring them in line with reshape, unsqueeze or a slice", what, rule,
                               operands(x, i)));
}

/// Checks the shapes that each way of reading requires.
void check_ndims(GatherKind how, const TensorImpl& x, int axis, const OperandInfo& i) {
  const char* const what = name_of(how);
  if (how == GatherKind::Embedding && x.ndim() != 2)
    throw_shape(what, fmt::format("the weight must be a matrix, not {}-dimensional", x.ndim()), x, i);
  if (how == GatherKind::Select && i.shape.ndim() > 1)
    throw_shape(what, "the index must have one dimension, or none", x, i);
  if (how != GatherKind::Gather && how != GatherKind::TakeAlongDim) return;
  const bool is_element = how == GatherKind::Gather && x.ndim() == 1 && i.shape.ndim() == 0;
  if (i.shape.ndim() != x.ndim() && !is_element) throw_shape(what, "the index must have as many dimensions as x", x, i);
  for (int d = 0; how == GatherKind::Gather && d < i.shape.ndim(); ++d)
    if (d != axis && i.shape[d] > x.shape[d])
      throw_shape(what, fmt::format("the index must not be larger than x along dimension {}", d), x, i);
}

/// The extents and strides of the axes that the indices do not run along.
TensorRef others_of(GatherKind how, const TensorImpl& x, int axis, const OperandInfo& i) {
  Shape shape, strides;
  const bool drops = how == GatherKind::Rows || how == GatherKind::Embedding;
  const int ndim = how == GatherKind::Gather ? i.shape.ndim() : x.ndim();
  for (int d = drops ? 1 : 0; d < ndim; ++d) {
    shape.push_back(d == axis ? 1 : how == GatherKind::Gather ? i.shape[d] : x.shape[d]);
    strides.push_back(d == axis || x.shape[d] == 1 ? 0 : x.strides[d]);
  }
  return runtime::view(*runtime::iota_tensor(shape, x.device), shape, strides);
}

/// For a 0-d tensor: one axis of one position, as in PyTorch.
Axis only_axis(GatherKind how, const TensorImpl& x, std::int64_t axis, const OperandInfo& i) {
  const char* const what = name_of(how);
  checked_axis(what, axis, 1, x);
  const int ndim = i.shape.ndim();
  if (ndim > 1 || (ndim == 1 && how == GatherKind::TakeAlongDim))
    throw_shape(what, "the index has more dimensions than x, which has none", x, i);
  const bool drops = ndim == 1 && how == GatherKind::Select;  // the result is 0-d too
  if (drops && i.shape[0] != 1) throw_shape(what, "x has no dimensions, so the index must name one element", x, i);
  return {1, 1, runtime::iota_tensor(Shape(), x.device), drops ? -1 : 0};
}

int trailing_of(GatherKind how, const TensorImpl& x, int axis) {
  return how == GatherKind::Gather || how == GatherKind::TakeAlongDim ? 0 : x.ndim() - 1 - axis;
}

}  // namespace

Axis axis_of(GatherKind how, const TensorImpl& x, std::int64_t along, const OperandInfo& i) {
  const char* const what = name_of(how);
  check_operands(what, x, i);
  if (x.ndim() == 0 && how != GatherKind::Rows && how != GatherKind::Embedding) return only_axis(how, x, along, i);
  const int axis = checked_axis(what, along, x);
  check_ndims(how, x, axis, i);
  Axis found{x.shape[axis], x.strides[axis], others_of(how, x, axis, i), trailing_of(how, x, axis)};
  if (i.shape.ndim() + found.trailing > max_ndim)
    throw_shape(what, fmt::format("the result would have more than {} dimensions", max_ndim), x, i);
  Shape result = i.shape;
  for (int d = 0; d < found.trailing; ++d) result.push_back(1);
  if (!broadcast(result, found.others->shape))
    throw_shape(what, "x and the index do not broadcast along the other dimensions", x, i);
  if (found.extent == 0 && result.numel() > 0) throw_no_positions(what, x, i);
  return found;
}

Axis flat_axis(std::int64_t stride, const TensorImpl& x, const OperandInfo& i) {
  check_operands("take", x, i);
  if (x.numel == 0 && i.shape.numel() > 0) throw_no_positions("take", x, i);
  return {x.numel, stride};
}

Axis class_axis(std::int64_t classes, const OperandInfo& i) {
  check_integers("one_hot", i);
  if (classes < 1)
    throw IndexError(fmt::format("one_hot: the number of classes is {}, but must be at least 1", classes));
  if (classes > max_classes)
    throw IndexError(fmt::format("one_hot: the number of classes is {}, but must be at most {}", classes, max_classes));
  if (i.shape.ndim() == max_ndim)
    throw ShapeError(fmt::format("one_hot: the result would have more than {} dimensions, where\n    ids: {}", max_ndim,
                                 describe(i)));
  return {classes, 1, runtime::iota_tensor({classes}, i.device), 1};
}

TensorRef append_axes(TensorImpl& x, int count) {
  if (count < 0) return runtime::view(x, Shape(), Shape());
  TensorRef view = TensorRef::share(&x);
  for (int i = 0; i < count; ++i) view = unsqueeze(*view, -1);
  return view;
}

}  // namespace sinter::inline v1::detail
