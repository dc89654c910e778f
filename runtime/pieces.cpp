#include <sinter/runtime/pieces.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include <sinter/runtime/error.hpp>

namespace sinter::inline v1::runtime {
namespace {

constexpr int none = -2;

const Pieces& pieces_of(const TensorImpl& t) { return *t.buffer->pieces(); }

/// Whether the elements that the other axes reach, in both directions, are within one row.
bool stays_in_row(const TensorImpl& t, int split, std::int64_t row_size) noexcept {
  std::int64_t low = t.first, high = t.first;
  for (int axis = 0; axis < t.rank(); ++axis) {
    if (axis == split || t.shape[axis] == 0) continue;
    const std::int64_t reach = (t.shape[axis] - 1) * t.strides[axis];
    (reach < 0 ? low : high) += reach;
  }
  return low >= 0 && high < row_size;
}

/// The axis that iterates over the rows, counted from the first; `none` if there is none or it does not cover all. With
/// at most one row it is `known`, unless strides have to tell.
int row_axis(const TensorImpl& t, const Pieces& p, int known) noexcept {
  int found = none, candidate = none;
  for (int axis = 0; axis < t.rank(); ++axis) {
    const bool all_rows = t.shape[axis] == p.rows && (t.strides[axis] == p.row_size || (axis == known && p.rows <= 1));
    if (t.shape[axis] > 1 && std::abs(t.strides[axis]) >= p.row_size) {
      if (!all_rows || found != none) return none;
      found = axis;
    } else if (all_rows && (axis == known || (known == by_strides && candidate == none))) {
      candidate = axis;
    }
  }
  if (found == none && p.rows <= 1) found = candidate;
  if (found == none || t.numel == 0) return found;
  return stays_in_row(t, found, p.row_size) ? found : none;
}

TensorRef in_array(const Shape& shape, const Shape& strides, int split, DType dtype,
                   std::unique_ptr<const Pieces> pieces) {
  TensorRef t = index_tensor(shape, pieces->mesh);
  t->dtype = dtype;
  t->contiguous = strides == t->strides;
  t->strides = strides;
  t->split = static_cast<std::int8_t>(split);
  t->buffer = Buffer::of_pieces(std::move(pieces));
  return t;
}

std::unique_ptr<Pieces> pieces_for(const Mesh& mesh, std::int64_t rows, std::int64_t row_size) {
  auto pieces = std::make_unique<Pieces>(Pieces{mesh, false, rows, row_size, {}});
  pieces->local.reserve(static_cast<std::size_t>(mesh.local()));
  return pieces;
}

/// Row-major, except that the sharded axis has the largest stride.
Shape strides_around(const Shape& shape, int split) {
  Shape strides = shape;
  std::int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (axis == split) continue;
    strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  strides[split] = step;
  return strides;
}

}  // namespace

TensorRef empty_sharded(const Shape& shape, int axis, DType dtype, Device device) {
  check_shape(shape, size_of(dtype));
  const Mesh mesh = Mesh::of(device);
  const Shape strides = strides_around(shape, axis);
  auto pieces = pieces_for(mesh, shape[axis], strides[axis]);
  for (int p = mesh.first(); p < mesh.first() + mesh.local(); ++p)
    pieces->local.push_back(empty({mesh.rows(shape[axis], p), strides[axis]}, dtype, mesh.device(p)));
  return in_array(shape, strides, axis, dtype, std::move(pieces));
}

TensorRef empty_replicated(const Shape& shape, DType dtype, Device device) {
  check_shape(shape, size_of(dtype));
  const Mesh mesh = Mesh::of(device);
  auto pieces = pieces_for(mesh, 1, shape.numel());
  pieces->replicated = true;
  for (int p = mesh.first(); p < mesh.first() + mesh.local(); ++p)
    pieces->local.push_back(empty(shape, dtype, mesh.device(p)));
  return in_array(shape, contiguous_strides(shape), whole, dtype, std::move(pieces));
}

TensorRef over_pieces(const Shape& shape, std::vector<TensorRef> local, Device device) {
  const Mesh mesh = Mesh::of(device);
  if (shape.empty()) throw ShapeError("a tensor in pieces has a dim 0: a number can be replicated only");
  if (std::ssize(local) != mesh.local())
    throw DeviceError(
        fmt::format("{} pieces for {}, which has {} positions here", local.size(), to_string(mesh), mesh.local()));
  const Shape strides = strides_around(shape, 0);
  for (int i = 0; i < mesh.local(); ++i) {
    const TensorImpl& t = *local[static_cast<std::size_t>(i)];
    const int position = mesh.first() + i;
    Shape expected = shape;
    expected[0] = mesh.rows(shape[0], position);
    if (t.dtype != local[0]->dtype)
      throw DtypeError(fmt::format("piece {} is {} and piece 0 {}: convert one with cast<T>(x)", i, describe(t),
                                   describe(*local[0])));
    if (t.device != mesh.device(position))
      throw DeviceError(fmt::format("piece {} is {}, and position {} of {} is {}: move it with .to(device)", i,
                                    describe(t), position, to_string(mesh), to_string(mesh.device(position))));
    if (t.shape != expected)
      throw ShapeError(fmt::format(
          "piece {} has shape {}, and of {} over {} positions it is {}: a piece has ceil(rows / positions) rows, the "
          "last ones what is left. Join what is cut in another way with cat, then shard(x, mesh)",
          i, to_string(t.shape), to_string(shape), mesh.size(), to_string(expected)));
    if (!t.contiguous) throw Error(fmt::format("piece {} is not contiguous: make it so with contiguous()", i));
  }
  auto pieces = pieces_for(mesh, shape[0], strides[0]);
  const DType dtype = local[0]->dtype;
  pieces->local = std::move(local);
  return in_array(shape, strides, 0, dtype, std::move(pieces));
}

TensorRef replicated_over(std::vector<TensorRef> local, Device device) {
  const Shape shape = local[0]->shape;
  const DType dtype = local[0]->dtype;
  auto pieces = pieces_for(Mesh::of(device), 1, shape.numel());
  pieces->replicated = true;
  pieces->local = std::move(local);
  return in_array(shape, contiguous_strides(shape), whole, dtype, std::move(pieces));
}

std::uint64_t version_of_pieces(const Buffer& buffer) noexcept {
  std::uint64_t sum = buffer.version();  // a sum of numbers that only grow: equal only if each is equal
  for (const TensorRef& t : buffer.pieces()->local) sum += t->buffer->version();
  return sum;
}

bool are_pieces_exposed(const Buffer& buffer) noexcept {
  return buffer.is_exposed() ||
         std::ranges::any_of(buffer.pieces()->local, [](const TensorRef& t) { return t->buffer->is_exposed(); });
}

TensorRef piece(const TensorImpl& t, int position) {
  const Pieces& p = pieces_of(t);
  const TensorImpl& array = *p.local[static_cast<std::size_t>(position - p.mesh.first())];
  if (p.replicated) return view(array, t.shape, t.strides, t.first);
  Shape shape = t.shape;
  shape[t.split] = p.mesh.rows(p.rows, position);
  return view(array, shape, t.strides, t.first);
}

TensorRef slice_of(const TensorImpl& t, int from_end, const Mesh& mesh, int position) {
  const TensorRef own = t.buffer && t.buffer->pieces() ? piece(t, position) : TensorRef();
  const TensorImpl& source = own ? *own : t;
  const int axis = t.rank() - 1 - from_end;
  Shape shape = t.shape;
  shape[axis] = mesh.rows(t.shape[axis], position);
  TensorRef part = view(source, shape, t.strides, mesh.first_row(t.shape[axis], position) * t.strides[axis]);
  if (!t.buffer) part->device = mesh.device(position);
  return part;
}

void place_view(TensorImpl& view, const TensorImpl& of, int split) {
  const Pieces& p = pieces_of(of);
  if (p.replicated) return;
  // A view with the same axes has the same sharded axis.
  const bool alike = split == by_strides && view.rank() == of.rank() && view.strides[of.split] == of.strides[of.split];
  const int found = row_axis(view, p, alike && view.shape[of.split] == p.rows ? of.split : split);
  view.split = static_cast<std::int8_t>(found);
  if (found != none) return;
  throw ShapeError(
      fmt::format("a view of shape {} of {}: dim {} is in pieces, and a view keeps all of it, in its order and as a "
                  "dim of its own. "
                  "Take the view of gather(x, device) or of replicate(x, mesh), or of one piece, x.shard(i)",
                  to_string(view.shape), describe(of), of.rank() - 1 - split_axis(of)));
}

std::string describe_placed(const TensorImpl& t) {
  if (!t.buffer || !t.buffer->pieces()) return describe(t);
  const int from_end = split_axis(t);
  return describe(t) +
         (from_end == whole ? ", replicated" : fmt::format(", dim {} in pieces", t.rank() - 1 - from_end));
}

}  // namespace sinter::inline v1::runtime
