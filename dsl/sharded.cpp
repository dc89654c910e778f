#include <sinter/dsl/sharded.hpp>

#include <fmt/format.h>

#include "checked_axis.hpp"

namespace sinter::inline v1::detail {

void throw_many_addresses(const TensorImpl& t) {
  throw DeviceError(fmt::format(
      "data() of {}: its elements are on several devices; take the address of one piece, x.shard(i).data(), or of "
      "gather(x, device)",
      describe(t)));
}

TensorRef shard_at(const TensorImpl& t, int i) {
  const Mesh mesh = Mesh::of(t.device);
  if (mesh.is_local(i)) return runtime::piece(t, i);
  const Device device = mesh.device(i);  // throws IndexError for an invalid position
  throw IndexError(fmt::format(
      "shard({}) of {}: position {}, {}, is of another process, and this one has positions {} to {}; gather(x) brings "
      "all of it here",
      i, describe(t), i, to_string(device), mesh.first(), mesh.first() + mesh.local() - 1));
}

TensorRef shard(TensorImpl& x, const Mesh& mesh, std::int64_t axis) {
  return jit::shard(x, mesh, x.rank() == 0 ? 0 : checked_axis("shard", axis, x));
}

TensorRef from_shards(std::vector<TensorRef> pieces, const Mesh& mesh) {
  if (mesh.local() != mesh.size())
    throw DeviceError(fmt::format(
        "from_shards over {}: pieces of several processes; say how many rows there are in all, from_shards(pieces, "
        "mesh, rows)",
        to_string(mesh)));
  std::int64_t rows = 0;
  for (const TensorRef& t : pieces) rows += t->rank() > 0 ? t->shape[0] : 0;
  return from_shards(std::move(pieces), mesh, rows);
}

TensorRef from_shards(std::vector<TensorRef> pieces, const Mesh& mesh, std::int64_t rows) {
  if (pieces.empty()) throw DeviceError("from_shards: there is no piece");
  Shape shape = pieces[0]->shape;
  if (!shape.empty()) shape[0] = rows;
  return runtime::over_pieces(shape, std::move(pieces), mesh);
}

}  // namespace sinter::inline v1::detail
