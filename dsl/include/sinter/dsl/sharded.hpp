// Tensors on a mesh: several devices that divide the work along dim 0.
//
// A tensor on a mesh is a Tensor<T, Mesh> with the shape of the whole tensor. Expressions of such tensors are written
// and evaluated like any others. All ranks compute at the same time, each on its own shard. If they need data from
// others, as a sum over dim 0 does, the mesh's communicator combines the parts. Operands must be on the same mesh, and
// either sharded along the same dim of the result or replicated; otherwise a DeviceError is thrown, or reported at
// compile time if the types show it. A result is sharded like its operands; a sum over the sharded dim is replicated. A
// view must keep the sharded dim whole and separate: transpose, slices of other dims, reshape of other dims.
#pragma once
#include <utility>
#include <vector>

#include <sinter/dsl/tensor.hpp>
#include <sinter/jit/mesh.hpp>
#include <sinter/runtime/shards.hpp>

namespace sinter::inline v1 {

/// A tensor on a mesh.
template <element_or_any T>
using Sharded = Tensor<T, Mesh>;

namespace detail {

/// Throws IndexError for an axis out of range.
TensorRef shard(TensorImpl& x, const Mesh& mesh, std::int64_t axis);
TensorRef from_shards(std::vector<TensorRef> shards, const Mesh& mesh);
TensorRef from_shards(std::vector<TensorRef> shards, const Mesh& mesh, std::int64_t rows);

template <class T, class D>
std::vector<TensorRef> refs_of(const std::vector<Tensor<T, D>>& tensors) {
  std::vector<TensorRef> refs;
  for (const Tensor<T, D>& t : tensors) refs.push_back(TensorRef::share(&t.impl()));
  return refs;
}

}  // namespace detail

/// Shards a tensor or expression over the mesh, in shards of ceil(extent / ranks) along a dim: 30 rows over 3
/// devices are 10, 10, 10; 10 are 4, 4, 2; 2 are 1, 1, 0. Returns it unchanged if it is already sharded so; a tensor on
/// another mesh or sharded along another dim is resharded. If processes share the mesh, each must pass the same
/// tensor.
/// Throws IndexError for a dim out of range, OutOfMemory; Error if processes disagree.
template <expression E>
auto shard(const E& x, const Mesh& mesh, detail::Index dim = 0) {
  return Sharded<detail::deduced_element<E>>(detail::shard(detail::evaluated_source(x).impl(), mesh, dim));
}

/// Replicates a tensor or expression: every rank of the mesh holds all of it.
template <expression E>
auto replicate(const E& x, const Mesh& mesh) {
  return Sharded<detail::deduced_element<E>>(jit::replicate(detail::evaluated_source(x).impl(), mesh));
}

/// Gathers a tensor or expression on one device; on a mesh shared by processes, in each of them.
template <expression E, device_argument Target = Cpu>
auto gather(const E& x, const Target& device = {}) {
  return Tensor<detail::deduced_element<E>, device_type_of<Target>>(
      jit::gather(detail::evaluated_source(x).impl(), Device(device)));
}

/// Joins tensors that are already on the mesh's devices as shards of one, along dim 0: nothing is copied. If processes
/// share the mesh, each passes the shards of its own ranks, and `rows` is the total extent of dim 0. Throws
/// DeviceError, DTypeError, and ShapeError for a shard that differs from the shard that shard() would make.
template <element_or_any T, class D>
Sharded<T> from_shards(const std::vector<Tensor<T, D>>& shards, const Mesh& mesh) {
  return Sharded<T>(detail::from_shards(detail::refs_of(shards), mesh));
}
template <element_or_any T, class D>
Sharded<T> from_shards(const std::vector<Tensor<T, D>>& shards, const Mesh& mesh, std::int64_t rows) {
  return Sharded<T>(detail::from_shards(detail::refs_of(shards), mesh, rows));
}

}  // namespace sinter::inline v1
