// What a tensor on a mesh consists of.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <sinter/runtime/mesh.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::runtime {

/// An array of `rows` rows, of `row_size` elements each. A tensor in it has its shape and strides as if the array were
/// whole, and `first` says where in it its first element is; it has no data.
struct Pieces {
  Mesh mesh;
  bool replicated = false;  // every position has all rows
  std::int64_t rows = 0, row_size = 1;
  std::vector<TensorRef> local;  // of this process's positions: contiguous, their rows one after another
};

/// Which axis of a tensor on a mesh is in pieces, counted from the last one, which is 0; `whole` where every position
/// has all of it.
inline constexpr int whole = -1;
inline int split_axis(const TensorImpl& t) noexcept { return t.split < 0 ? whole : t.rank() - 1 - t.split; }

/// Uninitialised. A new array, whose axis `axis` (from the first one) is in pieces; an array that every position has.
/// Throw ShapeError, OutOfMemory, DeviceError.
TensorRef empty_sharded(const Shape& shape, int axis, DType dtype, Device mesh);
TensorRef empty_replicated(const Shape& shape, DType dtype, Device mesh);
/// An array of pieces that are there already, on the devices of this process's positions, contiguous and of the shapes
/// that `shape`, in pieces along its first axis, gives. Throws DeviceError, DtypeError, ShapeError.
TensorRef over_pieces(const Shape& shape, std::vector<TensorRef> local, Device mesh);

/// A tensor of which every position has all: these, which are contiguous and alike.
TensorRef replicated_over(std::vector<TensorRef> local, Device mesh);

/// As of one buffer, of all that a tensor on a mesh lies in: its pieces may be written to by themselves.
std::uint64_t version_of_pieces(const Buffer& buffer) noexcept;
bool are_pieces_exposed(const Buffer& buffer) noexcept;

/// The part of a tensor on a mesh that a position of this process has: a view.
TensorRef piece(const TensorImpl& t, int position);
/// The part of a tensor that belongs to a position where the axis `from_end` is in pieces: a view. For one device's
/// tensors, for what is replicated (its copy there), and for index tensors.
TensorRef slice_of(const TensorImpl& t, int from_end, const Mesh& mesh, int position);

/// Sets which axis of a view is in pieces; `split` is what view() was told. Throws ShapeError where the view is none of
/// whole rows: where it takes some of the rows, or joins them with other axes.
void place_view(TensorImpl& view, const TensorImpl& of, int split);

/// "float32 (30, 5) on mesh(cuda:0, cuda:1), dim 0 in pieces", for messages.
std::string describe_placed(const TensorImpl& t);

}  // namespace sinter::inline v1::runtime
