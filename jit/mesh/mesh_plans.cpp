#include "mesh_plans.hpp"

#include <xxhash.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <mutex>
#include <vector>

#include <runtime/fork.hpp>

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using PlanKey = boost::container::small_vector<std::int64_t, 64>;

/// How many plans stay: the most recently used ones.
constexpr std::size_t max_plans = 256;

void add_placement(PlanKey& key, const TensorImpl& t) {
  key.push_back(t.ndim() + 16 * (placed_axis(t) + 1) + (t.buffer ? 256 : 0));
  key.insert(key.end(), t.shape.begin(), t.shape.end());
}

/// What a plan depends on besides its graph.
PlanKey key_of(const Call& call, std::size_t outputs) {
  PlanKey key{call.device.index() << 1 | call.is_typed};
  for (const TensorImpl* t : call.leaves) add_placement(key, *t);
  for (std::size_t i = 0; i < outputs; ++i)
    if (const TensorImpl* const given = call.outputs ? call.outputs[i].get() : nullptr)
      add_placement(key, *given);
    else
      key.push_back(-1);
  return key;
}

struct KnownPlan {
  std::uint64_t hash;
  std::shared_ptr<const CompiledGraph> compiled;  // keeps its address
  PlanKey key;
  std::shared_ptr<const MeshPlan> plan;
  std::uint64_t last_use;
};

struct KnownPlans {
  std::mutex mutex;
  std::vector<KnownPlan> all;
  std::uint64_t uses = 0;

  KnownPlan* find(const CompiledGraph& compiled, const PlanKey& key, std::uint64_t hash) {
    const auto found = std::ranges::find_if(
        all, [&](const KnownPlan& k) { return k.hash == hash && k.compiled.get() == &compiled && k.key == key; });
    if (found == all.end()) return nullptr;
    found->last_use = ++uses;
    return &*found;
  }
  /// Returns what it replaces, to be destroyed without the lock.
  KnownPlan put(KnownPlan made) {
    made.last_use = ++uses;
    if (all.size() < max_plans) return all.push_back(std::move(made)), KnownPlan();
    return std::exchange(*std::ranges::min_element(all, {}, &KnownPlan::last_use), std::move(made));
  }
};

constinit runtime::NoDestructor<KnownPlans> known_plans;

}  // namespace

std::shared_ptr<const MeshPlan> mesh_plan_for(const CompiledGraph& compiled, const Call& call) {
  const PlanKey key = key_of(call, compiled.outputs());
  const std::uint64_t hash = XXH3_64bits(key.data(), key.size() * sizeof(std::int64_t));
  KnownPlans& known = known_plans.get();
  {
    const runtime::ForkSafeLock lock(known.mutex);
    if (const KnownPlan* const found = known.find(compiled, key, hash)) return found->plan;
  }
  auto made = std::make_shared<const MeshPlan>(plan_on_mesh(compiled, call));
  KnownPlan replaced;
  const runtime::ForkSafeLock lock(known.mutex);
  if (const KnownPlan* const found = known.find(compiled, key, hash)) return found->plan;
  replaced = known.put({hash, compiled.shared_from_this(), key, made, 0});
  return made;
}

void drop_mesh_plans() {
  std::vector<KnownPlan> dropped;
  KnownPlans& known = known_plans.get();
  const runtime::ForkSafeLock lock(known.mutex);
  dropped.swap(known.all);
}

}  // namespace sinter::inline v1::jit
