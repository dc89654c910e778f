#include "redistribute.hpp"

#include <fmt/format.h>

#include <vector>

#include <runtime/collective/call.hpp>
#include <runtime/collective/together.hpp>
#include <sinter/jit/evaluate.hpp>
#include <sinter/jit/mesh.hpp>
#include <sinter/runtime/communicator.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/pieces.hpp>

namespace sinter::inline v1::jit {
namespace {

using runtime::Pieces;
using runtime::TensorImpl;
using runtime::TensorRef;
using runtime::whole;

int from_end(const TensorImpl& t, int axis) noexcept { return t.rank() - 1 - axis; }

template <class F>
void for_each_position(const Mesh& mesh, F f) {
  for (int position = mesh.first(); position < mesh.first() + mesh.local(); ++position) f(position);
}

/// Every process has all positions, and moves pieces by itself.
bool is_in_one_process(const Mesh& mesh) { return mesh.local() == mesh.size(); }

/// What every position has of a tensor in pieces, by its mesh's communicator. It lies as the pieces do.
TensorRef gather_everywhere(const TensorImpl& x) {
  if (x.numel == 0) return runtime::empty_replicated(x.shape, x.dtype, x.device);
  const Pieces& p = *x.buffer->pieces();
  std::vector<std::int64_t> counts;
  for (int i = 0; i < p.mesh.size(); ++i) counts.push_back(p.mesh.rows(p.rows, i) * p.row_size);
  std::vector<TensorRef> all;
  std::vector<std::int64_t> moved(x.shape.begin(), x.shape.end());
  moved.push_back(runtime::split_axis(x));
  const runtime::Subject subject(moved);
  runtime::together(p.mesh, [&] {
    for_each_position(p.mesh, [&](int position) {
      all.push_back(runtime::empty({p.rows * p.row_size}, x.dtype, p.mesh.device(position)));
    });
    p.mesh.communicator().all_gather(p.local, all, counts);
  });
  const TensorRef array = runtime::replicated_over(std::move(all), p.mesh);
  return runtime::view(*array, x.shape, x.strides, x.first);
}

/// Each piece goes to where it belongs in a tensor of one device.
void gather_into(TensorImpl& to, const TensorImpl& from, int axis, const Mesh& mesh) {
  for_each_position(
      mesh, [&](int position) { copy(*runtime::slice_of(to, axis, mesh, position), *runtime::piece(from, position)); });
}

/// What a position is to have of a tensor that is on one device, or on every position.
TensorRef source_at(const TensorImpl& from, const TensorImpl& to, int axis, const Mesh& mesh, int position) {
  const auto extent = [&](const TensorImpl& t) { return t.shape[t.rank() - 1 - axis]; };
  const bool takes_part = axis != whole && axis < from.rank() && extent(from) == extent(to);
  if (takes_part) return runtime::slice_of(from, axis, mesh, position);
  return from.device.is_mesh() ? runtime::piece(from, position) : TensorRef::share(const_cast<TensorImpl*>(&from));
}

void spread(TensorImpl& to, const TensorImpl& from) {
  const Mesh mesh = Mesh::of(to.device);
  const int axis = runtime::split_axis(to);
  for_each_position(
      mesh, [&](int position) { copy(*runtime::piece(to, position), *source_at(from, to, axis, mesh, position)); });
}

bool lies_alike(const TensorImpl& to, const TensorImpl& from) {
  return to.device == from.device && to.shape == from.shape && runtime::split_axis(to) == runtime::split_axis(from);
}

void copy_over(TensorImpl& to, TensorImpl& from) {
  if (lies_alike(to, from)) {
    for_each_position(Mesh::of(to.device),
                      [&](int position) { copy(*runtime::piece(to, position), *runtime::piece(from, position)); });
  } else if (to.device == from.device) {
    spread(to, runtime::split_axis(from) == whole ? from : *gather_everywhere(from));
  } else {
    spread(to, *gather(from, Device()));
  }
}

}  // namespace

void copy_on_mesh(TensorImpl& to, TensorImpl& from) {
  if (!to.device.is_mesh())
    copy(to, *gather(from, to.device));
  else if (!from.device.is_mesh())
    spread(to, from);
  else
    copy_over(to, from);
  if (to.buffer) to.buffer->touch();
}

TensorRef converted_on_mesh(TensorImpl& from, DType dtype) {
  const int axis = runtime::split_axis(from);
  TensorRef result = axis == whole ? runtime::empty_replicated(from.shape, dtype, from.device)
                                   : runtime::empty_sharded(from.shape, from.rank() - 1 - axis, dtype, from.device);
  copy_on_mesh(*result, from);
  return result;
}

TensorRef shard(TensorImpl& x, const Mesh& mesh, int axis) {
  if (axis < 0 || axis >= x.rank())
    throw IndexError(
        fmt::format("shard along dim {} of {}: it has {} dims; replicate(x, mesh) gives every position all", axis,
                    runtime::describe(x), x.rank()));
  if (x.device == Device(mesh) && runtime::split_axis(x) == from_end(x, axis)) return TensorRef::share(&x);
  return runtime::together(mesh, [&] {
    TensorRef result = runtime::empty_sharded(x.shape, axis, x.dtype, mesh);
    copy_on_mesh(*result, x);
    return result;
  });
}

TensorRef replicate(TensorImpl& x, const Mesh& mesh) {
  if (x.device == Device(mesh)) return runtime::split_axis(x) == whole ? TensorRef::share(&x) : gather_everywhere(x);
  return runtime::together(mesh, [&] {
    TensorRef result = runtime::empty_replicated(x.shape, x.dtype, mesh);
    copy_on_mesh(*result, x);
    return result;
  });
}

TensorRef gather(TensorImpl& x, Device device) {
  if (!x.device.is_mesh()) return to(x, x.dtype, device);
  if (device.is_mesh())
    throw DeviceError(fmt::format("gather brings {} to one device, and {} is a mesh: redistribute(x, mesh) goes there",
                                  runtime::describe(x), to_string(device)));
  const Mesh mesh = Mesh::of(x.device);
  const int axis = runtime::split_axis(x);
  if (axis != whole && is_in_one_process(mesh)) {
    TensorRef result = runtime::empty(x.shape, x.dtype, device);
    gather_into(*result, x, axis, mesh);
    return result;
  }
  const TensorRef all = axis == whole ? TensorRef::share(&x) : gather_everywhere(x);
  TensorRef own = runtime::piece(*all, mesh.first());
  for_each_position(mesh, [&](int position) {
    if (mesh.device(position) == device) own = runtime::piece(*all, position);
  });
  return to(*own, own->dtype, device);
}

}  // namespace sinter::inline v1::jit
