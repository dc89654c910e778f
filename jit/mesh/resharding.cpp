#include "resharding.hpp"

#include <fmt/format.h>

#include <vector>

#include <runtime/collective/call.hpp>
#include <runtime/collective/together.hpp>
#include <sinter/jit/evaluate.hpp>
#include <sinter/jit/mesh.hpp>
#include <sinter/runtime/communicator.hpp>
#include <sinter/runtime/error.hpp>
#include <sinter/runtime/shards.hpp>

namespace sinter::inline v1::jit {
namespace {

using runtime::no_axis;
using runtime::Shards;
using runtime::TensorImpl;
using runtime::TensorRef;

int from_end(const TensorImpl& t, int axis) noexcept { return t.ndim() - 1 - axis; }

template <class F>
void for_each_rank(const Mesh& mesh, F f) {
  for (int rank = mesh.first_local_rank(); rank < mesh.first_local_rank() + mesh.local_size(); ++rank) f(rank);
}

/// Whether this process has all ranks, so that it can copy shards without communication.
bool is_in_one_process(const Mesh& mesh) { return mesh.local_size() == mesh.size(); }

/// All-gathers a sharded tensor: replicated, in the memory layout of the shards.
TensorRef gather_everywhere(const TensorImpl& x) {
  if (x.numel == 0) return runtime::empty_replicated(x.shape, x.dtype, x.device);
  const Shards& p = *x.buffer->shards();
  std::vector<std::int64_t> counts;
  for (int i = 0; i < p.mesh.size(); ++i) counts.push_back(p.mesh.rows(p.rows, i) * p.row_size);
  std::vector<TensorRef> all;
  std::vector<std::int64_t> moved(x.shape.begin(), x.shape.end());
  moved.push_back(runtime::sharded_axis_from_end(x));
  const runtime::Subject subject(moved);
  runtime::together(p.mesh, [&] {
    for_each_rank(
        p.mesh, [&](int rank) { all.push_back(runtime::empty({p.rows * p.row_size}, x.dtype, p.mesh.device(rank))); });
    p.mesh.communicator().all_gather(p.local, all, counts);
  });
  const TensorRef array = runtime::replicated_from_copies(std::move(all), p.mesh);
  return runtime::view(*array, x.shape, x.strides, x.first);
}

/// Copies each shard to its place in a tensor on one device.
void gather_into(TensorImpl& to, const TensorImpl& from, int axis, const Mesh& mesh) {
  for_each_rank(mesh, [&](int rank) { copy(*runtime::slice_of(to, axis, mesh, rank), *runtime::shard(from, rank)); });
}

/// The part of a tensor on one device, or of a replicated one, that a rank needs.
TensorRef source_at(const TensorImpl& from, const TensorImpl& to, int axis, const Mesh& mesh, int rank) {
  const auto extent = [&](const TensorImpl& t) { return t.shape[t.ndim() - 1 - axis]; };
  const bool takes_part = axis != no_axis && axis < from.ndim() && extent(from) == extent(to);
  if (takes_part) return runtime::slice_of(from, axis, mesh, rank);
  return from.device.is_mesh() ? runtime::shard(from, rank) : TensorRef::share(const_cast<TensorImpl*>(&from));
}

void copy_shards(TensorImpl& to, const TensorImpl& from) {
  const Mesh mesh = Mesh::of(to.device);
  const int axis = runtime::sharded_axis_from_end(to);
  for_each_rank(mesh, [&](int rank) { copy(*runtime::shard(to, rank), *source_at(from, to, axis, mesh, rank)); });
}

bool lies_alike(const TensorImpl& to, const TensorImpl& from) {
  return to.device == from.device && to.shape == from.shape &&
         runtime::sharded_axis_from_end(to) == runtime::sharded_axis_from_end(from);
}

void copy_over(TensorImpl& to, TensorImpl& from) {
  if (lies_alike(to, from)) {
    for_each_rank(Mesh::of(to.device), [&](int rank) { copy(*runtime::shard(to, rank), *runtime::shard(from, rank)); });
  } else if (to.device == from.device) {
    copy_shards(to, runtime::sharded_axis_from_end(from) == no_axis ? from : *gather_everywhere(from));
  } else {
    copy_shards(to, *gather(from, Device()));
  }
}

}  // namespace

void copy_on_mesh(TensorImpl& to, TensorImpl& from) {
  if (!to.device.is_mesh())
    copy(to, *gather(from, to.device));
  else if (!from.device.is_mesh())
    copy_shards(to, from);
  else
    copy_over(to, from);
  if (to.buffer) to.buffer->touch();
}

TensorRef converted_on_mesh(TensorImpl& from, DType dtype) {
  const int axis = runtime::sharded_axis_from_end(from);
  TensorRef result = axis == no_axis ? runtime::empty_replicated(from.shape, dtype, from.device)
                                     : runtime::empty_sharded(from.shape, from.ndim() - 1 - axis, dtype, from.device);
  copy_on_mesh(*result, from);
  return result;
}

TensorRef shard(TensorImpl& x, const Mesh& mesh, int axis) {
  if (axis < 0 || axis >= x.ndim())
    throw IndexError(
        fmt::format("shard along dim {} of {}: it has {} dims; to copy all of it to every rank, use "
                    "replicate(x, mesh)",
                    axis, runtime::describe(x), x.ndim()));
  if (x.device == Device(mesh) && runtime::sharded_axis_from_end(x) == from_end(x, axis)) return TensorRef::share(&x);
  return runtime::together(mesh, [&] {
    TensorRef result = runtime::empty_sharded(x.shape, axis, x.dtype, mesh);
    copy_on_mesh(*result, x);
    return result;
  });
}

TensorRef replicate(TensorImpl& x, const Mesh& mesh) {
  if (x.device == Device(mesh))
    return runtime::sharded_axis_from_end(x) == no_axis ? TensorRef::share(&x) : gather_everywhere(x);
  return runtime::together(mesh, [&] {
    TensorRef result = runtime::empty_replicated(x.shape, x.dtype, mesh);
    copy_on_mesh(*result, x);
    return result;
  });
}

TensorRef gather(TensorImpl& x, Device device) {
  if (!x.device.is_mesh()) return to(x, x.dtype, device);
  if (device.is_mesh())
    throw DeviceError(fmt::format("gather copies {} to one device, but {} is a mesh: use shard(x, mesh)",
                                  runtime::describe(x), to_string(device)));
  const Mesh mesh = Mesh::of(x.device);
  const int axis = runtime::sharded_axis_from_end(x);
  if (axis != no_axis && is_in_one_process(mesh)) {
    TensorRef result = runtime::empty(x.shape, x.dtype, device);
    gather_into(*result, x, axis, mesh);
    return result;
  }
  const TensorRef all = axis == no_axis ? TensorRef::share(&x) : gather_everywhere(x);
  TensorRef own = runtime::shard(*all, mesh.first_local_rank());
  for_each_rank(mesh, [&](int rank) {
    if (mesh.device(rank) == device) own = runtime::shard(*all, rank);
  });
  return to(*own, own->dtype, device);
}

}  // namespace sinter::inline v1::jit
