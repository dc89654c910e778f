#include "mesh_plans.hpp"

#include <xxhash.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <runtime/fork.hpp>

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using PlanKey = boost::container::small_vector<std::int64_t, 64>;

/// Past this many plans, the half that was used longest ago is dropped.
constexpr std::size_t max_plans = 1024;

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
  std::shared_ptr<const CompiledGraph> compiled;  // keeps its address
  PlanKey key;
  std::shared_ptr<const MeshPlan> plan;
  std::uint64_t last_use;
};
using PlansByHash = std::unordered_multimap<std::uint64_t, KnownPlan>;

struct KnownPlans {
  std::mutex mutex;
  PlansByHash by_hash;
  std::uint64_t uses = 0;

  std::shared_ptr<const MeshPlan> find(const CompiledGraph& compiled, const PlanKey& key, std::uint64_t hash) {
    const auto [first, last] = by_hash.equal_range(hash);
    for (auto i = first; i != last; ++i) {
      KnownPlan& known = i->second;
      if (known.compiled.get() != &compiled || known.key != key) continue;
      known.last_use = ++uses;
      return known.plan;
    }
    return nullptr;
  }

  /// Returns the older half, to be destroyed without the lock.
  PlansByHash drop_older_half() {
    std::vector<std::uint64_t> all;
    for (const auto& [hash, known] : by_hash) all.push_back(known.last_use);
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::ranges::nth_element(all, middle);
    PlansByHash dropped;
    for (auto i = by_hash.begin(); i != by_hash.end();) {
      const auto next = std::next(i);
      if (i->second.last_use < *middle) dropped.insert(by_hash.extract(i));
      i = next;
    }
    return dropped;
  }
};

constinit runtime::NoDestructor<KnownPlans> known_plans;

}  // namespace

std::shared_ptr<const MeshPlan> mesh_plan_for(const CompiledGraph& compiled, const Call& call) {
  const PlanKey key = key_of(call, compiled.outputs());
  const std::uint64_t hash =
      XXH3_64bits_withSeed(key.data(), key.size() * sizeof(std::int64_t), reinterpret_cast<std::uintptr_t>(&compiled));
  KnownPlans& known = known_plans.get();
  {
    const runtime::ForkSafeLock lock(known.mutex);
    if (std::shared_ptr<const MeshPlan> found = known.find(compiled, key, hash)) return found;
  }
  auto made = std::make_shared<const MeshPlan>(plan_on_mesh(compiled, call));
  PlansByHash dropped;
  const runtime::ForkSafeLock lock(known.mutex);
  if (std::shared_ptr<const MeshPlan> found = known.find(compiled, key, hash)) return found;
  known.by_hash.emplace(hash, KnownPlan{compiled.shared_from_this(), key, made, ++known.uses});
  if (known.by_hash.size() > max_plans) dropped = known.drop_older_half();
  return made;
}

void drop_mesh_plans() {
  PlansByHash dropped;
  KnownPlans& known = known_plans.get();
  const runtime::ForkSafeLock lock(known.mutex);
  dropped.swap(known.by_hash);
}

}  // namespace sinter::inline v1::jit
