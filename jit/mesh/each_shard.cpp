#include "each_shard.hpp"

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

/// One tensor from the ranks' results; `split` is the sharded axis, counted from the first, with `extent` in total.
TensorRef assemble(std::vector<TensorRef> shards, int split, std::int64_t extent, const Mesh& mesh) {
  if (!shards[0]) return {};
  if (split == no_axis) {
    for (TensorRef& t : shards) t = contiguous(*t);
    return runtime::replicated_over(std::move(shards), mesh);
  }
  Shape shape = shards[0]->shape;
  shape[split] = extent;
  const TensorRef result = runtime::empty_sharded(shape, split, shards[0]->dtype, mesh);
  for (int i = 0; i < mesh.local(); ++i)
    copy(*runtime::shard(*result, mesh.first() + i), *shards[static_cast<std::size_t>(i)]);
  return result;
}

}  // namespace

ValuesAndIndices on_shards(const char* what, TensorImpl& x, int axis, bool keeps,
                           const std::function<ValuesAndIndices(TensorImpl&)>& f) {
  const Mesh mesh = Mesh::of(x.device);
  const int from_end = runtime::sharded_axis(x), split = from_end == no_axis ? no_axis : x.ndim() - 1 - from_end;
  if (split == axis && split != no_axis)
    throw DeviceError(fmt::format(
        "{} along dim {} of {}: this dim is sharded, so each rank has only a part of it. Shard another dim with "
        "redistribute(x, mesh, dim), or copy the tensor to one device with gather(x, device)",
        what, axis, runtime::describe(x)));
  std::vector<TensorRef> values, indices;
  for (int rank = mesh.first(); rank < mesh.first() + mesh.local(); ++rank) {
    ValuesAndIndices found = f(*runtime::shard(x, rank));
    values.push_back(std::move(found.values));
    indices.push_back(std::move(found.indices));
  }
  const int left = split == no_axis ? no_axis : split - (!keeps && axis < split);
  const std::int64_t extent = split == no_axis ? 0 : x.shape[split];
  return {assemble(std::move(values), left, extent, mesh), assemble(std::move(indices), left, extent, mesh)};
}

}  // namespace sinter::inline v1::jit
