#include "on_shards.hpp"

#include <fmt/format.h>

#include <vector>

#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/shards.hpp>

namespace sinter::inline v1::jit {
namespace {

using runtime::no_axis;
using runtime::TensorImpl;
using runtime::TensorRef;

/// One tensor from the ranks' results; `sharded_axis` is the sharded axis, counted from the first, with `extent` in
/// total.
TensorRef assemble(std::vector<TensorRef> shards, int sharded_axis, std::int64_t extent, const Mesh& mesh) {
  if (!shards[0]) return {};
  if (sharded_axis == no_axis) {
    for (TensorRef& t : shards) t = contiguous(*t);
    return runtime::replicated_from_copies(std::move(shards), mesh);
  }
  Shape shape = shards[0]->shape;
  shape[sharded_axis] = extent;
  const TensorRef result = runtime::empty_sharded(shape, sharded_axis, shards[0]->dtype, mesh);
  for (int i = 0; i < mesh.local_size(); ++i)
    copy(*runtime::shard(*result, mesh.first_local_rank() + i), *shards[static_cast<std::size_t>(i)]);
  return result;
}

}  // namespace

ValuesAndIndices on_shards(const char* what, TensorImpl& x, int axis, bool keeps,
                           const std::function<ValuesAndIndices(TensorImpl&)>& f) {
  const Mesh mesh = Mesh::of(x.device);
  const int from_end = runtime::sharded_axis_from_end(x),
            sharded_axis = from_end == no_axis ? no_axis : x.ndim() - 1 - from_end;
  if (sharded_axis == axis && sharded_axis != no_axis)
    throw DeviceError(fmt::format(
        "{} along dim {} of {}: this dim is sharded, so each rank has only a part of it. Shard another dim with "
        "shard(x, mesh, dim), or copy the tensor to one device with gather(x, device)",
        what, axis, runtime::describe(x)));
  std::vector<TensorRef> values, indices;
  for (int rank = mesh.first_local_rank(); rank < mesh.first_local_rank() + mesh.local_size(); ++rank) {
    ValuesAndIndices found = f(*runtime::shard(x, rank));
    values.push_back(std::move(found.values));
    indices.push_back(std::move(found.indices));
  }
  const int left = sharded_axis == no_axis ? no_axis : sharded_axis - (!keeps && axis < sharded_axis);
  const std::int64_t extent = sharded_axis == no_axis ? 0 : x.shape[sharded_axis];
  return {assemble(std::move(values), left, extent, mesh), assemble(std::move(indices), left, extent, mesh)};
}

}  // namespace sinter::inline v1::jit
