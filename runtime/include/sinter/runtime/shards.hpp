// The shards of a tensor on a mesh.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <sinter/runtime/mesh.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::runtime {

/// An array of `rows` rows of `row_size` elements each. A tensor in it has no data pointer, and shape and strides as if
/// the array were on one device; its `first` is the index of its first element in the array.
struct Shards {
  Mesh mesh;
  bool replicated = false;  // every rank has all rows
  std::int64_t rows = 0, row_size = 1;
  std::vector<TensorRef> local;  // shards of this process's ranks: contiguous, rows in order
};

/// The sharded axis of a tensor on a mesh, counted from the last axis, which is 0; `no_axis` if the tensor is
/// replicated.
inline int sharded_axis_from_end(const TensorImpl& t) noexcept {
  return t.sharded_axis < 0 ? no_axis : t.ndim() - 1 - t.sharded_axis;
}

/// New, uninitialized arrays: one sharded along `axis`, counted from the first axis, and one that is replicated. Throw
/// ShapeError, OutOfMemory, DeviceError.
TensorRef empty_sharded(const Shape& shape, int axis, DType dtype, Device mesh);
TensorRef empty_replicated(const Shape& shape, DType dtype, Device mesh);
/// An array over existing shards on the devices of this process's ranks. They must be contiguous and have the
/// shapes that sharding `shape` along its first axis gives. Throws DeviceError, DTypeError, ShapeError.
TensorRef tensor_from_shards(const Shape& shape, std::vector<TensorRef> local, Device mesh);

/// A replicated tensor over these copies, which are contiguous and equal.
TensorRef replicated_from_copies(std::vector<TensorRef> local, Device mesh);

/// A version like Buffer::version() for all shards of a tensor on a mesh, which may be written to separately.
std::uint64_t version_of_shards(const Buffer& buffer) noexcept;
bool are_shards_exposed(const Buffer& buffer) noexcept;

/// The shard of a tensor on a mesh at one of this process's ranks: a view.
TensorRef shard(const TensorImpl& t, int rank);
/// A rank's part of a tensor if axis `from_end` is sharded: a view. For tensors on one device, replicated tensors
/// (the copy at that rank), and iota tensors.
TensorRef slice_of(const TensorImpl& t, int from_end, const Mesh& mesh, int rank);

/// Sets a view's sharded axis; `sharded_axis` is view()'s argument. Throws ShapeError if the view does not consist of
/// whole rows: if it takes some of the rows, or merges them with other axes.
void place_view(TensorImpl& view, const TensorImpl& of, int sharded_axis);

/// "float32 (30, 5) on mesh(cuda:0, cuda:1), sharded along dim 0", for messages.
std::string describe_placed(const TensorImpl& t);

}  // namespace sinter::inline v1::runtime
