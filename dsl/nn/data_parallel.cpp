#include <sinter/nn/data_parallel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_set>

#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::detail {
namespace {

using Tensors = std::vector<const ModuleTensor*>;

void collect_state(const ModuleNode& module, Tensors& to) {
  for (const ModuleTensor& t : module.tensors)
    if (t.role != TensorRole::Constant) to.push_back(&t);
  for (const ModuleNode& inner : module.modules) collect_state(inner, to);
}
Tensors state_tensors(const ModuleNode& module) {
  Tensors all;
  collect_state(module, all);
  return all;
}

/// Whether one parameter may be replaced by the other.
bool are_alike(const ModuleTensor* a, const ModuleTensor* b) {
  return a->name == b->name && a->value->shape == b->value->shape && a->value->dtype == b->value->dtype;
}

[[noreturn]] void throw_not_alike(const ModuleNode& leader, const ModuleNode& follower) {
  const nn::NamedTensors own = state_of(leader), other = state_of(follower);
  for (std::size_t i = 0; i < std::min(own.size(), other.size()); ++i) {
    const auto& [name, value] = own[i];
    if (name == other[i].first && value.shape() == other[i].second.shape() && value.dtype() == other[i].second.dtype())
      continue;
    throw Error(
        fmt::format("DataParallel: {} of the first copy is {}, but {} of another copy is {}: a parameter may only be "
                    "replaced by one of its shape and dtype; after other changes make a new DataParallel of net()",
                    name, describe(value.impl()), other[i].first, describe(other[i].second.impl())));
  }
  throw Error(
      fmt::format("DataParallel: the first copy has {} tensors, but another has {}: after adding or removing "
                  "parameters make a new DataParallel of net()",
                  own.size(), other.size()));
}

void follow_training(const ModuleNode& leader, const ModuleNode& follower) {
  if (leader.training && follower.training && *follower.training != *leader.training)
    *follower.training = *leader.training;
  for (std::size_t i = 0; i < leader.modules.size(); ++i) follow_training(leader.modules[i], follower.modules[i]);
}

bool trains_alike(const ModuleNode& leader, const ModuleNode& follower) {
  if (leader.modules.size() != follower.modules.size()) return false;
  if (leader.training && follower.training && *follower.training != *leader.training) return false;
  for (std::size_t i = 0; i < leader.modules.size(); ++i)
    if (!trains_alike(leader.modules[i], follower.modules[i])) return false;
  return true;
}

}  // namespace

struct Replicas::State {
  /// The state of a parameter that the followers have.
  struct Seen {
    TensorRef value;  // kept alive, so that no other array gets its address
    std::uint64_t version = 0;

    bool is(const TensorRef& now) const {
      return value && value->buffer == now->buffer && value->data == now->data && value->strides == now->strides &&
             version == version_of(*now) && !(now->buffer && now->buffer->is_exposed());
    }
    static std::uint64_t version_of(const TensorImpl& t) { return t.buffer ? t.buffer->version() : 0; }
  };

  std::shared_mutex mutex;  // shared while copies are called, exclusive while they are written to
  std::vector<ModuleNode> followers;
  std::vector<Seen> seen;
  bool has_followers = false;

  bool is_up_to_date(const ModuleNode& leader, const Tensors& own) const {
    if (!has_followers || seen.size() != own.size()) return false;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (!seen[i].is(own[i]->value)) return false;
    return std::ranges::all_of(followers, [&](const ModuleNode& f) { return trains_alike(leader, f); });
  }
  void update(const ModuleNode& leader, const Tensors& own) {
    std::vector<Tensors> others;
    for (const ModuleNode& follower : followers)
      if (!std::ranges::equal(own, others.emplace_back(state_tensors(follower)), are_alike))
        throw_not_alike(leader, follower);
    for (const ModuleNode& follower : followers) follow_training(leader, follower);
    seen.resize(own.size());
    // New arrays, because results of earlier calls still read the old ones for their gradients; one where layers share.
    std::map<std::pair<const TensorImpl*, std::size_t>, TensorRef> copies;
    for (std::size_t i = 0; i < own.size(); ++i) {
      TensorImpl& value = *own[i]->value;
      if (seen[i].is(own[i]->value)) continue;
      const std::uint64_t version = Seen::version_of(value);
      for (std::size_t k = 0; k < others.size(); ++k) {
        const ModuleTensor& other = *others[k][i];
        TensorRef& copy = copies[{&value, k}];
        const Device device = other.value->device;
        if (!copy) copy = value.device == device ? own[i]->value : jit::to(value, value.dtype, device);
        other.assign(other.tensor, copy);
      }
      seen[i] = {own[i]->value, version};
    }
  }
};

Replicas::Replicas() : state_(std::make_unique<State>()) {}
Replicas::Replicas(Replicas&&) noexcept = default;
Replicas& Replicas::operator=(Replicas&&) noexcept = default;
Replicas::~Replicas() = default;

std::shared_lock<std::shared_mutex> Replicas::follow(
    const ModuleNode& leader, const std::function<std::vector<ModuleNode>()>& describe_followers) const {
  const Tensors own = state_tensors(leader);
  std::shared_lock lock(state_->mutex);
  if (state_->is_up_to_date(leader, own)) return lock;
  lock.unlock();
  {
    const std::lock_guard exclusive(state_->mutex);
    state_->followers = describe_followers();  // the net may have replaced parameters
    state_->has_followers = true;
    state_->update(leader, own);
  }
  lock.lock();
  return lock;
}

void add_parameters(std::vector<RankOperand>& operands, const std::vector<ModuleNode>& nets) {
  std::vector<Tensors> of_ranks;
  for (const ModuleNode& net : nets) of_ranks.push_back(state_tensors(net));
  std::unordered_set<const TensorImpl*> seen;  // layers may share parameters
  for (std::size_t i = 0; i < of_ranks[0].size(); ++i) {
    const ModuleTensor& own = *of_ranks[0][i];
    if (own.role != TensorRole::Parameter || category(own.value->dtype) < Category::Float) continue;
    if (!seen.insert(own.value.get()).second) continue;
    RankOperand operand{jit::lazy(*own.value), false, {}};
    for (const Tensors& tensors : of_ranks) operand.parts.push_back(tensors[i]->value);
    operands.push_back(std::move(operand));
  }
}

void raise_faults(const Mesh& mesh) {
  for (int i = 1; i < mesh.size(); ++i)
    if (mesh.device(i).is_cuda()) runtime::gpu(mesh.device(i).index()).raise_fault();
}

void check_replicated_mesh(const ModuleNode& net, const Mesh& mesh) {
  if (mesh.local_size() == mesh.size()) return;
  throw DeviceError(
      fmt::format("DataParallel of {} over {}: its copies are in one process, but these devices belong to several. "
                  "Give each process its own DataParallel over Mesh(), or use tensors on the mesh: net(shard(x, mesh)) "
                  "with replicated parameters",
                  net.kind, to_string(mesh)));
}

void throw_no_rows(const ModuleNode& net, const TensorImpl& batch) {
  throw ShapeError(
      fmt::format("{}: the batch is {}, a 0-d tensor, but dim 0 is divided among the devices: unsqueeze(0) adds it",
                  net.kind, describe(batch)));
}

void throw_other_rows(const ModuleNode& net, std::int64_t rows, const TensorImpl& batch) {
  throw ShapeError(
      fmt::format("{}: the batch has {} rows, but another operand is {}: each device gets some rows (dim 0) of every "
                  "tensor. Make a tensor that every device needs in full a member of the net",
                  net.kind, rows, describe(batch)));
}

}  // namespace sinter::inline v1::detail
