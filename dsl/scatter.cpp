#include <sinter/dsl/evaluate.hpp>
#include <sinter/dsl/scatter.hpp>

#include <fmt/format.h>

#include <utility>
#include <vector>

#include <runtime/different_devices.hpp>
#include "checked_axis.hpp"

namespace sinter::inline v1::detail {

namespace {

using Places = Lazy<std::int64_t>;

/// An axis of x whose positions an index gives; the index broadcasts to the iterated shape.
struct Indexed {
  int axis;
  Source index;
  bool from_end = false;  // negative indices count from the end
};

std::string describe(const Source& s) {
  const Shape shape = result_shape(jit::Recorded(s.node));
  return fmt::format("{} {} on {}", name(s.node->dtype()), to_string(shape), to_string(s.node->device()));
}
Shape shape_of(const Source& s) { return s.array ? s.array->shape : result_shape(jit::Recorded(s.node)); }

/// The end of messages.
std::string operand_lines(const TensorImpl& x, const Source& index, const Source& source) {
  return fmt::format("\n    x: {}\n    index: {}\n    source: {}", runtime::describe(x), describe(index),
                     source.number ? "a number" : describe(source));
}

/// Treats a 0-d array as one with one element.
Shape at_least_1d(const Shape& a) { return a.ndim() > 0 ? a : Shape(1); }

void check_integers(const char* what, const Source& index) {
  if (!can_index(index.node->dtype()))
    throw DTypeError(
        fmt::format("{}: the index is of {}, but indices are integers; a mask goes to masked_fill_ or where", what,
                    name(index.node->dtype())));
}

void check_device(const char* what, const TensorImpl& x, const Source& operand) {
  const Device device = operand.node->device();
  if (device == x.device) return;
  runtime::throw_different_devices(
      x.device, device,
      fmt::format("in x.{}(...), where\n    x: {}\n    an operand: {}", what, runtime::describe(x), describe(operand)));
}

/// A tensor's array, or an expression's value.
TensorRef array_of(const Source& s) {
  if (s.array) return s.array;
  TensorRef result;
  jit::evaluate(std::span(&s.node, 1), &result);
  return result;
}

/// The offsets in x for each position of `over`. `own` holds x's strides along the axes of `over`, 0 along those that
/// indices replace.
Places places(const TensorImpl& x, const Shape& over, const Shape& own, std::span<const Indexed> indexed) {
  const Shape extents = at_least_1d(x.shape), strides = x.ndim() > 0 ? x.strides : Shape(0);
  Places all(jit::lazy(*runtime::view(*runtime::iota_tensor(over, x.device), over, own)));
  for (const Indexed& i : indexed) {
    const Places index(jit::lazy_cast(i.index.node, DType::Int64));
    const std::int64_t n = extents[i.axis];
    const Places counted = i.from_end ? Places(where(index < 0, index + n, index)) : index;
    all = where((counted >= 0) & (counted < n), all + counted * strides[i.axis], jit::no_place);
  }
  return all;
}

void write_on_gpu(const char* what, TensorImpl& x, const Shape& over, const Shape& own,
                  std::span<const Indexed> indexed, const Source& source, jit::Write how) {
  std::vector<jit::LazyRef> nodes{places(x, over, own, indexed).node()};
  TensorRef results[] = {runtime::empty(over, DType::Int64, x.device), source.array};
  // Kernels read the values in place, or where they are written next to the offsets.
  const TensorRef& a = source.array;
  const bool ready = a && a->dtype == x.dtype && a->data && a->contiguous && (a->shape == over || a->numel == 1);
  if (!ready) {
    results[1] = runtime::empty(over, x.dtype, x.device);
    nodes.push_back(source.node);
  }
  jit::evaluate(nodes, results);
  jit::write_at(x, *results[0], *results[1], how, what);
}

void write_on_cpu(const char* what, TensorImpl& x, const Shape& over, const Shape& own,
                  std::span<const Indexed> indexed, const Source& source, jit::Write how) {
  std::vector<jit::IndexedAxis> axes;
  for (const Indexed& i : indexed)
    axes.push_back({i.axis, jit::to(*array_of(i.index), DType::Int64, x.device), i.from_end});
  TensorRef values = source.array;
  if (!values || values->dtype != x.dtype || !values->data) {
    values = runtime::empty(shape_of(source), x.dtype, x.device);
    jit::evaluate(std::span(&source.node, 1), &values);
  }
  jit::write_indexed(x, over, own, axes, *values, how, what);
}

/// `over` is the iterated shape; the indices and the source broadcast to it.
void write(const char* what, TensorImpl& x, const Shape& over, const Shape& own, std::span<const Indexed> indexed,
           const Source& source, jit::Write how) {
  if (over.numel() == 0) return;
  return x.device.is_cpu() ? write_on_cpu(what, x, over, own, indexed, source, how)
                           : write_on_gpu(what, x, over, own, indexed, source, how);
}

/// x's strides, with 0 along one axis.
Shape own_strides(const TensorImpl& x, int but) {
  Shape own = x.ndim() > 0 ? x.strides : Shape(0);
  own[but] = 0;
  return own;
}

Source source_of(TensorRef array) { return {jit::lazy(*array), array}; }

/// Converts a number to an element of x.
void make_element(const char* what, const TensorImpl& x, Source& source) {
  if (!source.number) return;
  check_number(what, x, *source.number);
  source.array = scalar_like(x, *source.number);
  source.node = jit::lazy(*source.array);
}

/// The part of a source that an index of this shape uses.
Source part_for(const Shape& index, const Source& source) {
  const Shape shape = shape_of(source);
  if (source.number || shape.ndim() == 0 || shape == index) return source;
  const TensorRef array = array_of(source);
  return source_of(runtime::view(*array, index, array->strides));
}

void check_scatter(const char* what, const TensorImpl& x, int axis, const Shape& over, const Source& index,
                   const Source& source) {
  const Shape extents = at_least_1d(x.shape);
  const Shape given = source.number ? over : at_least_1d(shape_of(source));
  if (over.ndim() != extents.ndim() || given.ndim() != extents.ndim())
    throw ShapeError(
        fmt::format("{}: index and source must have as many dimensions as x{}", what, operand_lines(x, index, source)));
  for (int d = 0; d < over.ndim(); ++d)
    if (over[d] > given[d] || (d != axis && over[d] > extents[d]))
      throw ShapeError(fmt::format(
          "{}: the index must not be larger than x along any dimension but {}, nor than the source along any; it is "
          "along dimension {}{}",
          what, axis, d, operand_lines(x, index, source)));
}

/// The slices of x along an axis, selected by a list of positions.
struct Slices {
  int axis;
  Shape over;
  Indexed indexed;  // the list, placed along the axis
};

Slices slices_of(const char* what, const TensorImpl& x, std::int64_t along, const Source& index, const Source& source) {
  check_device(what, x, index), check_device(what, x, source);
  runtime::refuse_mesh(what, x);
  check_integers(what, index);
  const Shape listed = shape_of(index);
  if (listed.ndim() > 1)
    throw ShapeError(fmt::format("{}: the index must have one dimension{}", what, operand_lines(x, index, source)));
  Slices s{checked_axis(what, along, at_least_1d(x.shape).ndim(), x), at_least_1d(x.shape), {}};
  s.over[s.axis] = listed.numel();
  s.indexed = {s.axis, index};
  if (s.axis == s.over.ndim() - 1) return s;
  const TensorRef list = array_of(index);
  Shape column, strides;
  for (int d = s.axis; d < s.over.ndim(); ++d) {
    column.push_back(d == s.axis ? listed.numel() : 1);
    strides.push_back(d == s.axis && listed.ndim() > 0 ? list->strides[0] : 1);
  }
  s.indexed.index = source_of(runtime::view(*list, column, strides));
  return s;
}

}  // namespace

void scatter(const char* what, TensorImpl& x, std::int64_t axis, const Source& index, Source source, jit::Write how) {
  make_element(what, x, source);
  check_device(what, x, index), check_device(what, x, source);
  runtime::refuse_mesh(what, x);
  check_integers(what, index);
  const int along = checked_axis(what, axis, at_least_1d(x.shape).ndim(), x);
  const Shape over = at_least_1d(shape_of(index));
  if (over.numel() == 0) return;
  check_scatter(what, x, along, over, index, source);
  const Indexed indexed{along, index};
  write(what, x, over, own_strides(x, along), {&indexed, 1}, part_for(over, source), how);
}

void write_slices(const char* what, TensorImpl& x, std::int64_t axis, const Source& index, const Source& source,
                  jit::Write how) {
  const Slices s = slices_of(what, x, axis, index, source);
  if (at_least_1d(shape_of(source)) != s.over)
    throw ShapeError(
        fmt::format("{}: the source must have shape {}: x's, with as many slices along dimension {} as there are "
                    "indices{}",
                    what, to_string(s.over), s.axis, operand_lines(x, index, source)));
  write(what, x, s.over, own_strides(x, s.axis), {&s.indexed, 1}, source, how);
}

void fill_slices(TensorImpl& x, std::int64_t axis, const Source& index, Source value) {
  constexpr auto what = "index_fill_";
  make_element(what, x, value);
  const Slices s = slices_of(what, x, axis, index, value);
  if (const Shape given = shape_of(value); given.ndim() > 0)
    throw ShapeError(fmt::format("index_fill_: the value must be a number or a 0-d tensor, and it has shape {}{}",
                                 to_string(given), operand_lines(x, index, value)));
  write(what, x, s.over, own_strides(x, s.axis), {&s.indexed, 1}, value, jit::Write::Store);
}

void index_put(TensorImpl& x, std::span<const Source> indices, Source values, jit::Write how, const char* what) {
  make_element(what, x, values);
  const int count = static_cast<int>(indices.size());
  if (count == 0 || count > x.ndim())
    throw IndexError(fmt::format("{}: {} indices for {}: give one for each of its first dimensions", what, count,
                                 runtime::describe(x)));
  check_device(what, x, values);
  runtime::refuse_mesh(what, x);
  Shape over;
  for (const Source& i : indices) {
    check_device(what, x, i);
    check_integers(what, i);
    if (!broadcast(over, shape_of(i)))
      throw IndexError(fmt::format("{}: the indices do not broadcast: {} and {}, for {}", what, describe(i),
                                   to_string(over), runtime::describe(x)));
  }
  if (over.ndim() + x.ndim() - count > max_ndim)
    throw ShapeError(
        fmt::format("{}: the indices broadcast to {} dimensions, in addition to {} of x, but a tensor has at "
                    "most {}\n    x: {}\n  Flatten the indices and the values",
                    what, over.ndim(), x.ndim() - count, max_ndim, runtime::describe(x)));
  Shape own;
  for (int d = 0; d < over.ndim(); ++d) own.push_back(0);
  for (int d = count; d < x.ndim(); ++d) over.push_back(x.shape[d]), own.push_back(x.strides[d]);
  Shape given = shape_of(values);
  if (!broadcast(given, over) || given != over)
    throw ShapeError(fmt::format(
        "{}: the values do not broadcast to {}, the shape that the indices select\n    x: {}\n    values: {}", what,
        to_string(over), runtime::describe(x), describe(values)));
  std::vector<Indexed> indexed;
  for (int axis = 0; axis < count; ++axis) {
    Source index = indices[static_cast<std::size_t>(axis)];
    if (count < x.ndim()) {  // the other axes follow the indices' own
      const TensorRef array = array_of(index);
      Shape shape = array->shape, strides = array->strides;
      for (int d = count; d < x.ndim(); ++d) shape.push_back(1), strides.push_back(1);
      index = source_of(runtime::view(*array, shape, strides));
    }
    indexed.push_back({axis, std::move(index), true});
  }
  if (over.ndim() == 0) over = own = Shape(1), own[0] = 0;
  write(what, x, over, own, indexed, values, how);
}

}  // namespace sinter::inline v1::detail
