#include <sinter/runtime/shards.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::runtime {
namespace {

const Shards& shards_of(const TensorImpl& t) { return *t.buffer->shards(); }

/// Whether the elements that the other axes reach, in both directions, stay within one row.
bool stays_in_row(const TensorImpl& t, int sharded_axis, std::int64_t row_size) noexcept {
  std::int64_t low = t.first, high = t.first;
  for (int axis = 0; axis < t.ndim(); ++axis) {
    if (axis == sharded_axis || t.shape[axis] == 0) continue;
    const std::int64_t reach = (t.shape[axis] - 1) * t.strides[axis];
    (reach < 0 ? low : high) += reach;
  }
  return low >= 0 && high < row_size;
}

/// The axis that iterates over the rows, counted from the first; `no_axis` if there is none or it does not cover all.
/// With at most one row it is `known`, unless that is axis_by_strides.
int row_axis(const TensorImpl& t, const Shards& p, int known) noexcept {
  int found = no_axis, candidate = no_axis;
  for (int axis = 0; axis < t.ndim(); ++axis) {
    const bool all_rows = t.shape[axis] == p.rows && (t.strides[axis] == p.row_size || (axis == known && p.rows <= 1));
    if (t.shape[axis] > 1 && std::abs(t.strides[axis]) >= p.row_size) {
      if (!all_rows || found != no_axis) return no_axis;
      found = axis;
    } else if (all_rows && (axis == known || (known == axis_by_strides && candidate == no_axis))) {
      candidate = axis;
    }
  }
  if (found == no_axis && p.rows <= 1) found = candidate;
  if (found == no_axis || t.numel == 0) return found;
  return stays_in_row(t, found, p.row_size) ? found : no_axis;
}

TensorRef in_array(const Shape& shape, const Shape& strides, int sharded_axis, DType dtype,
                   std::unique_ptr<const Shards> shards) {
  TensorRef t = iota_tensor(shape, shards->mesh);
  t->dtype = dtype;
  t->contiguous = strides == t->strides;
  t->strides = strides;
  t->sharded_axis = static_cast<std::int8_t>(sharded_axis);
  t->buffer = Buffer::of_shards(std::move(shards));
  return t;
}

std::unique_ptr<Shards> shards_for(const Mesh& mesh, std::int64_t rows, std::int64_t row_size) {
  auto shards = std::make_unique<Shards>(Shards{mesh, false, rows, row_size, {}});
  shards->local.reserve(static_cast<std::size_t>(mesh.local_size()));
  return shards;
}

/// Row-major, except that the sharded axis has the largest stride.
Shape strides_around(const Shape& shape, int sharded_axis) {
  Shape strides = shape;
  std::int64_t step = 1;
  for (int axis = shape.ndim() - 1; axis >= 0; --axis) {
    if (axis == sharded_axis) continue;
    strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  strides[sharded_axis] = step;
  return strides;
}

}  // namespace

TensorRef empty_sharded(const Shape& shape, int axis, DType dtype, Device device) {
  check_shape(shape, size_of(dtype));
  const Mesh mesh = Mesh::of(device);
  const Shape strides = strides_around(shape, axis);
  auto shards = shards_for(mesh, shape[axis], strides[axis]);
  for (int p = mesh.first_local_rank(); p < mesh.first_local_rank() + mesh.local_size(); ++p)
    shards->local.push_back(empty({mesh.rows(shape[axis], p), strides[axis]}, dtype, mesh.device(p)));
  return in_array(shape, strides, axis, dtype, std::move(shards));
}

TensorRef empty_replicated(const Shape& shape, DType dtype, Device device) {
  check_shape(shape, size_of(dtype));
  const Mesh mesh = Mesh::of(device);
  auto shards = shards_for(mesh, 1, shape.numel());
  shards->replicated = true;
  for (int p = mesh.first_local_rank(); p < mesh.first_local_rank() + mesh.local_size(); ++p)
    shards->local.push_back(empty(shape, dtype, mesh.device(p)));
  return in_array(shape, contiguous_strides(shape), no_axis, dtype, std::move(shards));
}

TensorRef tensor_from_shards(const Shape& shape, std::vector<TensorRef> local, Device device) {
  const Mesh mesh = Mesh::of(device);
  if (shape.empty()) throw ShapeError("a sharded tensor has at least one dim: a 0-d tensor can only be replicated");
  if (std::ssize(local) != mesh.local_size())
    throw DeviceError(fmt::format("{} shards were given for {}, which has {} ranks in this process", local.size(),
                                  to_string(mesh), mesh.local_size()));
  const Shape strides = strides_around(shape, 0);
  for (int i = 0; i < mesh.local_size(); ++i) {
    const TensorImpl& t = *local[static_cast<std::size_t>(i)];
    const int rank = mesh.first_local_rank() + i;
    Shape expected = shape;
    expected[0] = mesh.rows(shape[0], rank);
    if (t.dtype != local[0]->dtype)
      throw DTypeError(fmt::format("shard {} is {} and shard 0 {}: convert one with cast<T>(x)", i, describe(t),
                                   describe(*local[0])));
    if (t.device != mesh.device(rank))
      throw DeviceError(fmt::format("shard {} is {}, and rank {} of {} is {}: move it with .to(device)", i, describe(t),
                                    rank, to_string(mesh), to_string(mesh.device(rank))));
    if (t.shape != expected)
      throw ShapeError(fmt::format(
          "shard {} has shape {}; for {} over {} ranks it must have {}: a shard has ceil(rows / ranks) rows, the last "
          "ones the rest. If the shards are divided differently, join them with cat, then call shard(x, mesh)",
          i, to_string(t.shape), to_string(shape), mesh.size(), to_string(expected)));
    if (!t.contiguous) throw Error(fmt::format("shard {} is not contiguous: call contiguous() on it first", i));
  }
  auto shards = shards_for(mesh, shape[0], strides[0]);
  const DType dtype = local[0]->dtype;
  shards->local = std::move(local);
  return in_array(shape, strides, 0, dtype, std::move(shards));
}

TensorRef replicated_from_copies(std::vector<TensorRef> local, Device device) {
  const Shape shape = local[0]->shape;
  const DType dtype = local[0]->dtype;
  auto shards = shards_for(Mesh::of(device), 1, shape.numel());
  shards->replicated = true;
  shards->local = std::move(local);
  return in_array(shape, contiguous_strides(shape), no_axis, dtype, std::move(shards));
}

std::uint64_t version_of_shards(const Buffer& buffer) noexcept {
  std::uint64_t sum = buffer.version();  // a sum of numbers that only grow: equal only if each is equal
  for (const TensorRef& t : buffer.shards()->local) sum += t->buffer->version();
  return sum;
}

bool are_shards_exposed(const Buffer& buffer) noexcept {
  return buffer.is_exposed() ||
         std::ranges::any_of(buffer.shards()->local, [](const TensorRef& t) { return t->buffer->is_exposed(); });
}

TensorRef shard(const TensorImpl& t, int rank) {
  const Shards& p = shards_of(t);
  const TensorImpl& array = *p.local[static_cast<std::size_t>(rank - p.mesh.first_local_rank())];
  if (p.replicated) return view(array, t.shape, t.strides, t.first);
  Shape shape = t.shape;
  shape[t.sharded_axis] = p.mesh.rows(p.rows, rank);
  return view(array, shape, t.strides, t.first);
}

TensorRef slice_of(const TensorImpl& t, int from_end, const Mesh& mesh, int rank) {
  const TensorRef own = t.buffer && t.buffer->shards() ? shard(t, rank) : TensorRef();
  const TensorImpl& source = own ? *own : t;
  const int axis = t.ndim() - 1 - from_end;
  Shape shape = t.shape;
  shape[axis] = mesh.rows(t.shape[axis], rank);
  TensorRef part = view(source, shape, t.strides, mesh.first_row(t.shape[axis], rank) * t.strides[axis]);
  if (!t.buffer) part->device = mesh.device(rank);
  return part;
}

void place_view(TensorImpl& view, const TensorImpl& of, int sharded_axis) {
  const Shards& p = shards_of(of);
  if (p.replicated) return;
  // A view with the same axes has the same sharded axis.
  const bool alike = sharded_axis == axis_by_strides && view.ndim() == of.ndim() &&
                     view.strides[of.sharded_axis] == of.strides[of.sharded_axis];
  const int found = row_axis(view, p, alike && view.shape[of.sharded_axis] == p.rows ? of.sharded_axis : sharded_axis);
  view.sharded_axis = static_cast<std::int8_t>(found);
  if (found != no_axis) return;
  throw ShapeError(fmt::format(
      "a view of shape {} of {}: dim {} is sharded, and a view must keep it whole, in order and as a separate "
      "dim. Take the view of gather(x, device), of replicate(x, mesh), or of one shard, x.shard(i)",
      to_string(view.shape), describe(of), of.ndim() - 1 - sharded_axis_from_end(of)));
}

std::string describe_placed(const TensorImpl& t) {
  if (!t.buffer || !t.buffer->shards()) return describe(t);
  const int from_end = sharded_axis_from_end(t);
  return describe(t) +
         (from_end == no_axis ? ", replicated" : fmt::format(", sharded along dim {}", t.ndim() - 1 - from_end));
}

}  // namespace sinter::inline v1::runtime
