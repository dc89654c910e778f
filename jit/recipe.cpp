#include "recipe.hpp"

#include <unordered_map>

#include "evaluator.hpp"
#include "stats.hpp"

namespace sinter::inline v1::jit {
namespace {

/// Keys of an entry beyond this many are looked up by their graph: tables are copied to be changed, so they stay small.
constexpr std::size_t max_keys = 32;

struct EntryItem {
  std::vector<std::uint16_t> key;
  const Recipe* recipe;
};

/// What an Entry points to. Immutable once published.
struct EntryTable {
  std::vector<EntryItem> items;
};

bool equal(RecipeKey a, const std::vector<std::uint16_t>& b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)  // a few words: shorter than a call of memcmp
    if (a[i] != b[i]) return false;
  return true;
}

struct Recipes {
  std::mutex mutex;
  std::unordered_multimap<std::uint64_t, std::unique_ptr<const Recipe>> by_hash;
  std::mutex entries;
  std::vector<std::unique_ptr<const EntryTable>> tables;  // those replaced too: readers may still look at them
};

/// Never destroyed: what static entries point to outlives everything.
Recipes& recipes() {
  static Recipes& r = *new Recipes;
  return r;
}

}  // namespace

ReadyPlan::ReadyPlan(Plan p, std::vector<std::uint32_t> o) : plan(std::move(p)), outputs(std::move(o)) {
  for (const Kernel& k : plan.kernels) kernels.push_back(std::make_unique<Executable>(k));
}

Recipe::Recipe(Graph recorded, bool eager)
    : recorded_(std::move(recorded)), eager_(eager), plans_(1 + recorded_.outputs().size()) {
  for (const Operand output : recorded_.outputs()) {
    const std::vector<bool> depends = leaves_of(recorded_, output);
    std::vector<std::uint32_t>& numbers = leaves_.emplace_back();
    for (std::uint32_t i = 0; i < depends.size(); ++i)
      if (depends[i]) numbers.push_back(i);
  }
}

const ReadyPlan& Recipe::make(std::size_t which) const {
  const std::lock_guard lock(mutex_);
  if (const ReadyPlan* ready = plans_[which].load(std::memory_order_relaxed)) return *ready;
  std::vector<std::uint32_t> outputs;
  for (std::uint32_t i = 0; i < this->outputs(); ++i)
    if (which == 0 || which == 1 + i) outputs.push_back(i);
  if (!eager_ && !simplified_) simplified_ = simplify(recorded_);
  Plan plan = eager_ ? schedule_eager(part_of(recorded_, outputs)) : schedule(part_of(*simplified_, outputs));
  owned_.push_back(std::make_unique<const ReadyPlan>(std::move(plan), std::move(outputs)));
  plans_[which].store(owned_.back().get(), std::memory_order_release);
  count_plan();
  return *owned_.back();
}

const Recipe& recipe_for(Graph recorded, bool eager) {
  const Hash content = hash(recorded);
  const std::uint64_t key = content.low ^ static_cast<std::uint64_t>(eager);
  Recipes& r = recipes();
  const std::lock_guard lock(r.mutex);
  const auto [first, last] = r.by_hash.equal_range(key);
  for (auto i = first; i != last; ++i)
    if (i->second->eager() == eager && i->second->recorded() == recorded) return *i->second;
  return *r.by_hash.emplace(key, std::make_unique<const Recipe>(std::move(recorded), eager))->second;
}

Graph with_output_dtypes(Graph recorded, std::span<const std::uint8_t> dtypes) {
  bool changes = false;
  for (std::size_t i = 0; i < dtypes.size(); ++i)
    changes |= dtypes[i] != any_dtype && recorded[recorded.outputs()[i]].dtype != static_cast<DType>(dtypes[i]);
  if (!changes) return recorded;
  Graph g;
  g.reserve(recorded.nodes().size() + dtypes.size(), recorded.all_operands().size() + dtypes.size());
  for (const Node& n : recorded.nodes()) g.node(n.op, n.dtype, recorded.operands(n), n.attribute);
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    const Operand o = recorded.outputs()[i];
    g.output(dtypes[i] == any_dtype ? o : g.cast(o, static_cast<DType>(dtypes[i])));
  }
  return g;
}

const Recipe* find_recipe(const Entry& entry, RecipeKey key) noexcept {
  const auto* table = static_cast<const EntryTable*>(entry.plans.load(std::memory_order_acquire));
  if (!table) return nullptr;
  for (const EntryItem& item : table->items)
    if (equal(key, item.key)) return item.recipe;
  return nullptr;
}

void add_recipe(Entry& entry, RecipeKey key, const Recipe& recipe) {
  Recipes& r = recipes();
  const std::lock_guard lock(r.entries);
  if (find_recipe(entry, key)) return;
  const auto* old = static_cast<const EntryTable*>(entry.plans.load(std::memory_order_relaxed));
  if (old && old->items.size() >= max_keys) return;
  auto next = std::make_unique<EntryTable>(old ? *old : EntryTable());
  next->items.push_back({std::vector<std::uint16_t>(key.begin(), key.end()), &recipe});
  r.tables.push_back(std::move(next));
  entry.plans.store(r.tables.back().get(), std::memory_order_release);
}

}  // namespace sinter::inline v1::jit
