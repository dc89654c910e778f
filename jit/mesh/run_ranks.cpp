#include "run_ranks.hpp"

#include <algorithm>
#include <exception>

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

/// A rank's part of a leaf; `axis` is the one along which it slices a replicated leaf.
TensorRef leaf_at(const TensorImpl& leaf, int axis, const Mesh& mesh, int rank) {
  if (axis >= 0) return runtime::slice_of(leaf, axis, mesh, rank);
  if (leaf.buffer) return runtime::shard(leaf, rank);
  TensorRef index = runtime::view(leaf, leaf.shape, leaf.strides);
  index->device = mesh.device(rank);
  return index;
}

}  // namespace

RankResults run_ranks(const CompiledGraph& compiled, const Call& call, const Mesh& mesh, std::span<const int> leaf_axes,
                      std::span<const Result> results, int ranks) {
  const auto local = static_cast<std::size_t>(mesh.local_size());
  RankResults made(results.size(), std::vector<TensorRef>(local));
  std::exception_ptr failed;
  const int end = std::min(
      mesh.first_local_rank() + (call.runs() || call.visitor->visits_all_ranks() ? mesh.local_size() : 1), ranks);
  std::vector<TensorRef> held(call.leaves.size());
  std::vector<TensorImpl*> leaves(call.leaves.size());
  for (int rank = mesh.first_local_rank(); rank < end; ++rank) try {
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        held[i] = leaf_at(*call.leaves[i], leaf_axes[i], mesh, rank);
        leaves[i] = held[i].get();
      }
      std::vector<TensorRef> outputs(results.size());
      for (std::size_t i = 0; i < results.size(); ++i)
        if (results[i].array) outputs[i] = runtime::shard(*results[i].array, rank);
      Call own = call;
      own.leaves = leaves;
      own.outputs = outputs.data();
      own.device = mesh.device(rank);
      run(compiled, own);
      for (std::size_t i = 0; i < results.size(); ++i)
        made[i][static_cast<std::size_t>(rank - mesh.first_local_rank())] = std::move(outputs[i]);
    } catch (...) {
      if (!failed) failed = std::current_exception();
    }
  if (failed) std::rethrow_exception(failed);
  return made;
}

TensorRef empty_placed(const Shape& shape, int axis, DType dtype, Device mesh) {
  return axis == no_axis ? runtime::empty_replicated(shape, dtype, mesh)
                         : runtime::empty_sharded(shape, shape.ndim() - 1 - axis, dtype, mesh);
}

}  // namespace sinter::inline v1::jit
