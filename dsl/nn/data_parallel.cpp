#include <sinter/nn/data_parallel.hpp>

#include <fmt/format.h>

#include <sinter/jit/evaluate.hpp>

namespace sinter::inline v1::detail {
namespace {

void follow_training(const ModuleNode& leader, const ModuleNode& follower) {
  if (leader.training && follower.training) *follower.training = *leader.training;
  for (std::size_t i = 0; i < leader.modules.size(); ++i) follow_training(leader.modules[i], follower.modules[i]);
}

}  // namespace

void Replicas::follow(const ModuleNode& leader, std::vector<ModuleNode> followers) {
  const nn::NamedTensors own = state_of(leader);
  std::vector<nn::NamedTensors> others;
  for (const ModuleNode& follower : followers) {
    follow_training(leader, follower);
    others.push_back(state_of(follower));
  }
  const bool is_first = seen_.empty();  // the copies are equal when they are made
  seen_.resize(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    TensorImpl& value = own[i].second.impl();
    const std::uint64_t version = value.buffer ? value.buffer->version() : 0;
    const bool is_seen = is_first || (seen_[i].value && seen_[i].value->buffer == value.buffer &&
                                      seen_[i].version == version && !value.buffer->is_exposed());
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
