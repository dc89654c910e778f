// Tensors on a mesh: several devices that share the work along dim 0.
//
// A tensor on a mesh is a Tensor<T, Mesh>, of the shape that it has in all. Expressions of such tensors are written and
// evaluated as any others: each position computes with the pieces that it has, all at the same time, and where it needs
// those of others - a sum over dim 0 - the mesh's communicator joins the parts. Operands are on the same mesh, in
// pieces along the same dim of the result, or replicated; a DeviceError says where they are not, and does so when
// compiling where the types tell. A result is in pieces as its operands are; sums over the dim in pieces are
// replicated. A view keeps the dim that is in pieces whole and by itself: transpose, slices of other dims, reshape of
// other dims.
#pragma once
#include <utility>
#include <vector>

#include <sinter/dsl/tensor.hpp>
#include <sinter/jit/mesh.hpp>
#include <sinter/runtime/pieces.hpp>

namespace sinter::inline v1 {

/// A tensor on a mesh.
template <element_or_any T>
using Sharded = Tensor<T, Mesh>;

namespace detail {

/// Throws IndexError for an axis that is not there.
TensorRef shard(TensorImpl& x, const Mesh& mesh, std::int64_t axis);
TensorRef from_shards(std::vector<TensorRef> pieces, const Mesh& mesh);
TensorRef from_shards(std::vector<TensorRef> pieces, const Mesh& mesh, std::int64_t rows);

template <class T, class D>
std::vector<TensorRef> refs_of(const std::vector<Tensor<T, D>>& tensors) {
  std::vector<TensorRef> refs;
  for (const Tensor<T, D>& t : tensors) refs.push_back(TensorRef::share(&t.impl()));
  return refs;
}

}  // namespace detail

/// A tensor or expression on the mesh, in pieces of ceil(extent / positions) along a dim: 30 rows over 3 devices are
/// 10, 10, 10; 10 are 4, 4, 2; 2 are 1, 1, 0. Itself where it lies so already; from another mesh, or another dim, it is
/// redistributed. Where processes share the mesh each gives the same tensor.
/// Throws IndexError for a dim that is not there, OutOfMemory; Error where processes do not agree.
template <expression E>
auto shard(const E& x, const Mesh& mesh, detail::Index dim = 0) {
  return Sharded<detail::deduced_element<E>>(detail::shard(detail::evaluated_source(x).impl(), mesh, dim));
}

/// What is on a mesh, in pieces along another dim, or on another mesh.
template <expression E>
auto redistribute(const E& x, const Mesh& mesh, detail::Index dim = 0) {
  return shard(x, mesh, dim);
}

/// A tensor or expression of which every position of the mesh has all.
template <expression E>
auto replicate(const E& x, const Mesh& mesh) {
  return Sharded<detail::deduced_element<E>>(jit::replicate(detail::evaluated_source(x).impl(), mesh));
}

/// All of a tensor or expression on one device; of a mesh that processes share, in each of them.
template <expression E, device_argument Target = Cpu>
auto gather(const E& x, const Target& device = {}) {
  return Tensor<detail::deduced_element<E>, device_type_of<Target>>(
      jit::gather(detail::evaluated_source(x).impl(), Device(device)));
}

/// Tensors that are on the mesh's devices already, as the pieces of one, along dim 0: nothing is copied. Where
/// processes share the mesh each gives those of its positions, and `rows` is the extent of dim 0 in all. Throws
/// DeviceError, DtypeError and ShapeError for a piece that is not as shard() would make it.
template <element_or_any T, class D>
Sharded<T> from_shards(const std::vector<Tensor<T, D>>& pieces, const Mesh& mesh) {
  return Sharded<T>(detail::from_shards(detail::refs_of(pieces), mesh));
}
template <element_or_any T, class D>
Sharded<T> from_shards(const std::vector<Tensor<T, D>>& pieces, const Mesh& mesh, std::int64_t rows) {
  return Sharded<T>(detail::from_shards(detail::refs_of(pieces), mesh, rows));
}

}  // namespace sinter::inline v1
