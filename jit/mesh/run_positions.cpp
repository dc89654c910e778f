#include "run_positions.hpp"

#include <algorithm>
#include <exception>

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

/// What a position has of a leaf; `axis` is the one along which it takes a part of what every position has.
TensorRef leaf_at(const TensorImpl& leaf, int axis, const Mesh& mesh, int position) {
  if (axis >= 0) return runtime::slice_of(leaf, axis, mesh, position);
  if (leaf.buffer) return runtime::piece(leaf, position);
  TensorRef index = runtime::view(leaf, leaf.shape, leaf.strides);
  index->device = mesh.device(position);
  return index;
}

bool only_looks(const Call& call) { return call.texts || call.row_plans || call.seen; }

}  // namespace

PositionResults run_positions(const Recipe& recipe, const Call& call, const Mesh& mesh, std::span<const int> leaf_axes,
                              std::span<const Result> results, int positions) {
  const auto local = static_cast<std::size_t>(mesh.local());
  PositionResults made(results.size(), std::vector<TensorRef>(local));
  std::exception_ptr failed;
  const int end = std::min(mesh.first() + (only_looks(call) ? 1 : mesh.local()), positions);
  std::vector<TensorRef> held(call.leaves.size());
  std::vector<TensorImpl*> leaves(call.leaves.size());
  for (int position = mesh.first(); position < end; ++position) try {
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        held[i] = leaf_at(*call.leaves[i], leaf_axes[i], mesh, position);
        leaves[i] = held[i].get();
      }
      std::vector<TensorRef> outputs(results.size());
      for (std::size_t i = 0; i < results.size(); ++i)
        if (results[i].array) outputs[i] = runtime::piece(*results[i].array, position);
      Call own = call;
      own.leaves = leaves;
      own.outputs = outputs.data();
      own.device = mesh.device(position);
      run(recipe, own);
      for (std::size_t i = 0; i < results.size(); ++i)
        made[i][static_cast<std::size_t>(position - mesh.first())] = std::move(outputs[i]);
    } catch (...) {
      if (!failed) failed = std::current_exception();
    }
  if (failed) std::rethrow_exception(failed);
  return made;
}

TensorRef empty_placed(const Shape& shape, int axis, DType dtype, Device mesh) {
  return axis == whole ? runtime::empty_replicated(shape, dtype, mesh)
                       : runtime::empty_sharded(shape, shape.rank() - 1 - axis, dtype, mesh);
}

}  // namespace sinter::inline v1::jit
