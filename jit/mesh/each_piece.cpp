#include "each_piece.hpp"

#include <fmt/format.h>

#include <vector>

#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/pieces.hpp>

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;
using runtime::whole;

/// One tensor of what the positions have; `split` is the axis in pieces, from the first one, of `extent` in all.
TensorRef assemble(std::vector<TensorRef> pieces, int split, std::int64_t extent, const Mesh& mesh) {
  if (!pieces[0]) return {};
  if (split == whole) {
    for (TensorRef& t : pieces) t = contiguous(*t);
    return runtime::replicated_over(std::move(pieces), mesh);
  }
  Shape shape = pieces[0]->shape;
  shape[split] = extent;
  const TensorRef result = runtime::empty_sharded(shape, split, pieces[0]->dtype, mesh);
  for (int i = 0; i < mesh.local(); ++i)
    copy(*runtime::piece(*result, mesh.first() + i), *pieces[static_cast<std::size_t>(i)]);
  return result;
}

}  // namespace

ValuesAndIndices on_pieces(const char* what, TensorImpl& x, int axis, bool keeps,
                           const std::function<ValuesAndIndices(TensorImpl&)>& f) {
  const Mesh mesh = Mesh::of(x.device);
  const int from_end = runtime::split_axis(x), split = from_end == whole ? whole : x.rank() - 1 - from_end;
  if (split == axis && split != whole)
    throw DeviceError(fmt::format(
        "{} along dim {} of {}: this dim is in pieces, and no position has a whole line of it. Put another dim into "
        "pieces, redistribute(x, mesh, dim), or bring all to one device, gather(x, device)",
        what, axis, runtime::describe(x)));
  std::vector<TensorRef> values, indices;
  for (int position = mesh.first(); position < mesh.first() + mesh.local(); ++position) {
    ValuesAndIndices found = f(*runtime::piece(x, position));
    values.push_back(std::move(found.values));
    indices.push_back(std::move(found.indices));
  }
  const int left = split == whole ? whole : split - (!keeps && axis < split);
  const std::int64_t extent = split == whole ? 0 : x.shape[split];
  return {assemble(std::move(values), left, extent, mesh), assemble(std::move(indices), left, extent, mesh)};
}

}  // namespace sinter::inline v1::jit
