#include <sinter/nn/data_parallel.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <sinter/jit/evaluate.hpp>

namespace sinter::inline v1::detail {
namespace {

void follow_training(const ModuleNode& leader, const ModuleNode& follower) {
  if (leader.training && follower.training) *follower.training = *leader.training;
  for (std::size_t i = 0; i < leader.modules.size(); ++i) follow_training(leader.modules[i], follower.modules[i]);
}

/// A parameter may be replaced by another of its kind.
void check_alike(const nn::NamedTensors& own, const nn::NamedTensors& other) {
  const bool as_many = own.size() == other.size();
  for (std::size_t i = 0; i < std::min(own.size(), other.size()); ++i) {
    const auto& [name, value] = own[i];
    if (name == other[i].first && value.shape() == other[i].second.shape() && value.dtype() == other[i].second.dtype())
      continue;
    throw Error(fmt::format(
        "DataParallel: {} of the first copy is {}, and that of another {} is {}: a parameter is replaced by one of its "
        "shape and dtype; after other changes make another DataParallel of net()",
        name, describe(value.impl()), other[i].first, describe(other[i].second.impl())));
  }
  if (!as_many)
    throw Error(fmt::format(
        "DataParallel: the first copy has {} tensors, and another {}: after adding or taking away parameters make "
        "another DataParallel of net()",
        own.size(), other.size()));
}

}  // namespace

void Replicas::follow(const ModuleNode& leader, std::vector<ModuleNode> followers) {
  const nn::NamedTensors own = state_of(leader);
  std::vector<nn::NamedTensors> others;
  for (const ModuleNode& follower : followers) {
    follow_training(leader, follower);
    others.push_back(state_of(follower));
  }
  for (const nn::NamedTensors& other : others) check_alike(own, other);
  seen_.resize(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    TensorImpl& value = own[i].second.impl();
    const std::uint64_t version = value.buffer ? value.buffer->version() : 0;
    const bool is_seen = seen_[i].value && seen_[i].value->buffer == value.buffer && seen_[i].version == version &&
                         !value.buffer->is_exposed();
    if (!is_seen)
      for (const nn::NamedTensors& other : others)
        if (other[i].second.impl().buffer != value.buffer) jit::copy(other[i].second.impl(), value);
    seen_[i] = {TensorRef::share(&value), version};
  }
}

void check_replicated_mesh(const ModuleNode& net, const Mesh& mesh) {
  if (mesh.local() == mesh.size()) return;
  throw DeviceError(fmt::format(
      "DataParallel of {} over {}: its copies are in one process, and these devices are of several. Give each process "
      "its own DataParallel over Mesh(), or use tensors on the mesh: net(shard(x, mesh)) with replicated parameters",
      net.kind, to_string(mesh)));
}

std::int64_t rows_of_batch(const ModuleNode& net, const TensorImpl& batch) {
  if (batch.rank() > 0) return batch.shape[0];
  throw ShapeError(fmt::format("{}: the batch is {}, a number; its dim 0 is what devices share: unsqueeze(0) adds one",
                               net.kind, describe(batch)));
}

}  // namespace sinter::inline v1::detail
