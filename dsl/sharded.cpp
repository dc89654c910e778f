#include <sinter/dsl/sharded.hpp>

#include <fmt/format.h>

#include "checked_axis.hpp"

namespace sinter::inline v1::detail {

void throw_many_addresses(const TensorImpl& t) {
  throw DeviceError(fmt::format(
      "data() of {}: its elements are on several devices; take the address of one shard, x.shard(i).data(), or of "
      "gather(x, device)",
      describe(t)));
}

TensorRef shard_at(const TensorImpl& t, int i) {
  const Mesh mesh = Mesh::of(t.device);
  if (mesh.is_local(i)) return runtime::shard(t, i);
  const Device device = mesh.device(i);  // throws IndexError for an invalid rank
  throw IndexError(fmt::format(
      "shard({}) of {}: rank {}, {}, belongs to another process; this one has ranks {} to {}; gather(x) "
      "brings all of it here",
      i, describe(t), i, to_string(device), mesh.first_local_rank(), mesh.first_local_rank() + mesh.local_size() - 1));
}

TensorRef shard(TensorImpl& x, const Mesh& mesh, std::int64_t axis) {
  return jit::shard(x, mesh, x.ndim() == 0 ? 0 : checked_axis("shard", axis, x));
}

TensorRef from_shards(std::vector<TensorRef> shards, const Mesh& mesh) {
  if (mesh.local_size() != mesh.size())
    throw DeviceError(
        fmt::format("from_shards over {}: shards of several processes; give the total number of rows, "
                    "from_shards(shards, mesh, rows)",
                    to_string(mesh)));
  std::int64_t rows = 0;
  for (const TensorRef& t : shards) rows += t->ndim() > 0 ? t->shape[0] : 0;
  return from_shards(std::move(shards), mesh, rows);
}

TensorRef from_shards(std::vector<TensorRef> shards, const Mesh& mesh, std::int64_t rows) {
  if (shards.empty()) throw DeviceError("from_shards: no shards were given");
  Shape shape = shards[0]->shape;
  if (!shape.empty()) shape[0] = rows;
  return runtime::tensor_from_shards(shape, std::move(shards), mesh);
}

}  // namespace sinter::inline v1::detail
