#include "run_ranks.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <exception>

namespace sinter::inline v1::jit {
namespace {

using boost::container::small_vector;
using runtime::TensorImpl;
using runtime::TensorRef;

/// The ranks' parts of an array, one after another: a view that moves from rank to rank.
class RankView {
 public:
  /// `slices` is the axis along which ranks slice a replicated array; negative if they do not.
  RankView(const TensorImpl& of, int slices, const Mesh& mesh) : of_(of), slices_(slices), mesh_(mesh) {}

  const TensorRef& at(int rank) {
    if (!move_to(rank)) view_ = view_at(rank);
    return view_;
  }

 private:
  TensorRef view_at(int rank) const {
    if (slices_ >= 0) return runtime::slice_of(of_, slices_, mesh_, rank);
    if (of_.buffer) return runtime::shard(of_, rank);
    TensorRef index = runtime::view(of_, of_.shape, of_.strides);
    index->device = mesh_.device(rank);
    return index;
  }

  /// Moves the view to a rank that has as many rows. Returns false if it is in use, or the rank needs another one.
  bool move_to(int rank) {
    if (!view_ || !of_.buffer || view_->owners() > 1) return false;
    const TensorImpl& array = *of_.buffer->shards()->local[static_cast<std::size_t>(rank - mesh_.first_local_rank())];
    std::int64_t first = of_.first;
    if (slices_ >= 0) {
      const std::int64_t extent = of_.shape[-1 - slices_], row = mesh_.first_row(extent, rank);
      if (mesh_.first_row(extent, rank + 1) - row != view_->shape[-1 - slices_]) return false;
      first += row * of_.strides[-1 - slices_];
    } else if (of_.sharded_axis >= 0 && array.shape[0] != view_->shape[of_.sharded_axis]) {
      return false;
    }
    view_->device = array.device;
    view_->buffer = array.buffer;
    view_->data = view_->numel == 0 ? array.data : array.data + first * static_cast<std::int64_t>(size_of(of_.dtype));
    return true;
  }

  const TensorImpl& of_;
  const int slices_;
  const Mesh& mesh_;
  TensorRef view_;
};

}  // namespace

RankResults run_ranks(const CompiledGraph& compiled, const Call& call, const Mesh& mesh, std::span<const int> leaf_axes,
                      std::span<const Result> results, int ranks) {
  const auto local = static_cast<std::size_t>(mesh.local_size());
  RankResults made(results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!results[i].array) made[i].resize(local);
  std::exception_ptr failed;
  const int end = std::min(
      mesh.first_local_rank() + (call.runs() || call.visitor->visits_all_ranks() ? mesh.local_size() : 1), ranks);
  small_vector<RankView, 8> leaf_views, output_views;
  for (std::size_t i = 0; i < call.leaves.size(); ++i) leaf_views.emplace_back(*call.leaves[i], leaf_axes[i], mesh);
  for (const Result& r : results)
    if (r.array) output_views.emplace_back(*r.array, no_axis, mesh);
  small_vector<TensorImpl*, 8> leaves(call.leaves.size());
  small_vector<TensorRef, 2> outputs(results.size());
  Call own = call;
  own.leaves = {leaves.data(), leaves.size()};
  own.outputs = outputs.data();
  for (int rank = mesh.first_local_rank(); rank < end; ++rank) try {
      for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i] = leaf_views[i].at(rank).get();
      for (std::size_t i = 0, given = 0; i < results.size(); ++i) {
        outputs[i] = TensorRef();  // no longer uses the view
        if (results[i].array) outputs[i] = output_views[given++].at(rank);
      }
      own.device = mesh.device(rank);
      own.faulting_kernel = nullptr;
      run(compiled, own);
      for (std::size_t i = 0; i < results.size(); ++i)
        if (!results[i].array)
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
