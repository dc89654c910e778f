#include "compiled_graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <string_view>
#include <unordered_map>

#include <runtime/fork.hpp>
#include <runtime/log.hpp>
#include "../cache/epochs.hpp"
#include "../graph/arguments.hpp"
#include "../graph/leaves.hpp"
#include "../infer/check_shapes.hpp"
#include "../infer/shapes.hpp"
#include "../plan/plan_shapes.hpp"
#include "../plan/product.hpp"
#include "../stats/stats.hpp"
#include "checks.hpp"

namespace sinter::inline v1::jit {
namespace {

/// Past this many keys, a call site's graphs are looked up by content: tables are copied on write, so they stay small.
constexpr std::size_t max_keys = 32;

struct KeyedGraph {
  std::vector<std::uint16_t> key;
  std::shared_ptr<const CompiledGraph> compiled;
};

/// Immutable once published.
struct KeyedGraphs {
  std::vector<KeyedGraph> items;
};

/// What a CallSiteCache points to. Outlives it: a plugin may be unloaded before its compiled graphs are dropped.
struct CallSiteGraphs {
  std::atomic<const KeyedGraphs*> table{nullptr};
  std::shared_ptr<const KeyedGraphs> owner;

  /// Returns the previous table, to be destroyed later, without a lock.
  [[nodiscard]] std::shared_ptr<const KeyedGraphs> put(std::shared_ptr<const KeyedGraphs> next) noexcept {
    table.store(next.get(), std::memory_order_seq_cst);
    owner.swap(next);
    return next;
  }
};

bool equal(CompiledGraphKey a, const std::vector<std::uint16_t>& b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)  // a few words: faster than a call of memcmp
    if (a[i] != b[i]) return false;
  return true;
}

/// Past this many compiled graphs without a type, which lazy expressions make, the older half of them is dropped.
constexpr std::size_t max_untyped = 1024;

struct Kept {
  std::shared_ptr<const CompiledGraph> compiled;
  bool of_type;
  std::uint64_t last_use;
};

struct CompiledGraphs {
  std::mutex mutex;
  std::unordered_multimap<std::uint64_t, Kept> by_hash;
  std::size_t of_no_type = 0;
  std::uint64_t uses = 0;
  std::mutex changing_call_sites;
  std::deque<CallSiteGraphs> call_sites;
};

/// Never destroyed, since static call-site caches point into it.
constinit runtime::NoDestructor<CompiledGraphs> compiled_graphs;

void log_plan(const Graph& graph, const Plan& plan) {
  std::vector<std::string_view> names;
  for (const Kernel& k : plan.kernels) names.push_back(k.name);
  runtime::log(
      runtime::Log::Schedule,
      fmt::format("a graph of {} nodes becomes {} {} with {} temporaries: {}", graph.nodes().size(), names.size(),
                  names.size() == 1 ? "kernel" : "kernels", plan.temporaries.size(), fmt::join(names, ", ")));
}

}  // namespace

ExecutablePlan::ExecutablePlan(Plan p) : plan(std::move(p)), writers(plan.graph.outputs().size()) {
  for (const Kernel& k : plan.kernels) {
    const auto number = static_cast<std::int32_t>(kernels.size());
    kernels.push_back(std::make_unique<Executable>(k));
    for (const Slot& s : k.inputs) {
      if (s.kind == Slot::Kind::Temporary) continue;
      last_reads.resize(std::max<std::size_t>(last_reads.size(), s.number + 1), -1);
      last_reads[s.number] = number;
    }
    for (std::uint32_t i = 0; i < k.outputs.size(); ++i)
      if (k.outputs[i].kind == Slot::Kind::Output) writers[k.outputs[i].number] = {number, i};
  }
}

ShapeKey shape_key(std::span<runtime::TensorImpl* const> leaves, RowValues rows) {
  ShapeKey key{static_cast<std::uint16_t>(rows)};
  boost::container::small_vector<std::int64_t, 16> extents{0, 1};  // the distinct ones, by number
  for (const runtime::TensorImpl* t : leaves) {
    key.push_back(static_cast<std::uint16_t>(t->ndim()));
    for (const std::int64_t extent : t->shape) {
      const auto known = std::ranges::find(extents, extent);
      key.push_back(static_cast<std::uint16_t>(known - extents.begin()));
      if (known == extents.end()) extents.push_back(extent);
    }
  }
  return key;
}

namespace {

CompiledGraph::ConstrainedOperation limited(const Graph& graph, const Node& n) {
  CompiledGraph::ConstrainedOperation made{n.op, {}};
  for (Operand o : graph.operands(n)) {
    while (graph[o].op == Op::cast || graph[o].op == Op::complex) o = graph.operands(graph[o])[0];
    CompiledGraph::ConstrainedOperation::Number number;
    if (graph[o].op == Op::scalar) number.scalar = scalar_use(graph[o]);
    if (graph[o].op == Op::constant) number.constant = number_of(graph[o].attribute, graph[o].dtype);
    made.operands.push_back(number);
  }
  return made;
}

const Graph no_graph;

std::optional<Graph> without_common_subexpressions(const Graph& recorded) {
  Graph once = eliminate_common_subexpressions(recorded);
  return once.nodes().size() == recorded.nodes().size() ? std::nullopt : std::optional(std::move(once));
}

}  // namespace

CompiledGraph::CompiledGraph(Graph recorded, bool eager)
    : recorded_(std::move(recorded)),
      deduplicated_(eager ? std::nullopt : without_common_subexpressions(recorded_)),
      specialized_(eager ? no_graph : graph()),
      eager_(eager),
      depends_on_shapes_(jit::depends_on_shapes(recorded_)),
      multiplies_(multiplies(recorded_)) {
  for (const Operand output : graph().outputs()) {
    LeafSets sets = leaves_of(graph(), output);
    leaves_.push_back(std::move(sets.elementwise));
    arrays_.push_back(std::move(sets.arrays));
    for (const std::uint32_t leaf : arrays_.back()) {
      is_array_.resize(std::max<std::size_t>(is_array_.size(), leaf + 1));
      is_array_[leaf] = true;
    }
  }
  for (const Node& n : graph().nodes())
    if (n.op == Op::scalar && category(n.dtype) == Category::Int && scalar_use(n).arrives_as == Category::Int &&
        n.dtype != DType::Int64)
      narrow_scalars_.push_back({scalar_use(n).number, n.dtype});
    else if (limits_arguments(n.op))
      limited_.push_back(limited(graph(), n));
  limits_scalars_ = !narrow_scalars_.empty() || !limited_.empty();
  if (depends_on_shapes_ && !multiplies_ && !eager_) costly_parts_ = costly_parts(simplified());
}

runtime::TraceSpan CompiledGraph::planning() const noexcept {
  return runtime::TraceSpan(runtime::TraceCategory::Plan, "plan", {{"nodes", std::ssize(graph().nodes())}});
}

void CompiledGraph::report(const ExecutablePlan& made, runtime::TraceSpan& span) const {
  count_plan();
  span.add({"kernels", std::ssize(made.kernels)});
  if (runtime::logs(runtime::Log::Schedule)) log_plan(made.plan.graph, made.plan);
}

const ExecutablePlan& CompiledGraph::make() const {
  const runtime::ForkSafeLock lock(mutex_);
  if (const ExecutablePlan* ready = for_one_shape_.load(std::memory_order_relaxed)) return *ready;
  runtime::TraceSpan span = planning();
  auto made = std::make_unique<ExecutablePlan>(eager_ ? schedule_eager(graph()) : schedule(simplify(graph())));
  if (!eager_) made->costly_parts = costly_parts(made->plan.graph);
  owned_for_one_shape_ = std::move(made);
  for_one_shape_.store(owned_for_one_shape_.get(), std::memory_order_release);
  report(*owned_for_one_shape_, span);
  return *owned_for_one_shape_;
}

const Graph& CompiledGraph::simplified() const {
  if (!simplified_) simplified_ = simplify(graph(), true);
  return *simplified_;
}

RowValues CompiledGraph::row_values_for(std::span<runtime::TensorImpl* const> leaves, std::int64_t elements,
                                        bool is_cpu) const {
  const RowValues rows = eager_ ? RowValues::Recomputed : row_values(elements, is_cpu);
  if (multiplies_ || !depends_on_shapes_ || rows == RowValues::Recomputed) return rows;
  return repeats(costly_parts_, elements, leaves, rows) ? rows : RowValues::Recomputed;
}

const ExecutablePlan& CompiledGraph::plan_for(std::span<runtime::TensorImpl* const> leaves, RowValues rows) const {
  const ShapeKey key = shape_key(leaves, rows);
  for (const ShapedPlan* p = shaped_.load(std::memory_order_acquire); p; p = p->next)
    if (p->key == key) return *p->plan;
  return make_for(key, leaves, rows);
}

bool CompiledGraph::gathers_from_empty(std::span<runtime::TensorImpl* const> leaves) const noexcept {
  return std::ranges::any_of(arrays_, [&](const std::vector<std::uint32_t>& of_output) {
    return std::ranges::any_of(of_output, [&](std::uint32_t number) { return leaves[number]->numel == 0; });
  });
}

const ExecutablePlan& CompiledGraph::make_for(const ShapeKey& key, std::span<runtime::TensorImpl* const> leaves,
                                              RowValues rows) const {
  check_shapes(graph(), leaves);
  const runtime::ForkSafeLock lock(mutex_);
  for (const ShapedPlan* p = shaped_.load(std::memory_order_relaxed); p; p = p->next)
    if (p->key == key) return *p->plan;
  runtime::TraceSpan span = planning();
  const std::vector<Shape> shapes = shapes_of_leaves(leaves);
  const bool eager = eager_ || gathers_from_empty(leaves);
  Plan plan = eager         ? schedule_eager(graph(), shapes)
              : multiplies_ ? schedule_products(graph(), shapes, rows)
                            : schedule(simplified(), shapes, rows);
  check_same_shapes(graph(), leaves, plan_shapes(plan, nullptr, leaves).outputs);
  auto ready = std::make_unique<const ExecutablePlan>(std::move(plan));
  all_shaped_.push_back(
      std::make_unique<const ShapedPlan>(key, std::move(ready), shaped_.load(std::memory_order_relaxed)));
  shaped_.store(all_shaped_.back().get(), std::memory_order_release);
  report(*all_shaped_.back()->plan, span);
  return *all_shaped_.back()->plan;
}

namespace {

/// Returns the dropped graphs, to be destroyed without the lock.
std::vector<std::shared_ptr<const CompiledGraph>> drop_older_half(CompiledGraphs& r) {
  std::vector<std::uint64_t> uses;
  for (const auto& [key, kept] : r.by_hash)
    if (!kept.of_type) uses.push_back(kept.last_use);
  std::ranges::nth_element(uses, uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2));
  const std::uint64_t limit = uses[uses.size() / 2];
  std::vector<std::shared_ptr<const CompiledGraph>> dropped;
  for (auto i = r.by_hash.begin(); i != r.by_hash.end();)
    if (i->second.of_type || i->second.last_use >= limit) {
      ++i;
    } else {
      dropped.push_back(std::move(i->second.compiled));
      i = r.by_hash.erase(i);
    }
  r.of_no_type -= dropped.size();
  return dropped;
}

}  // namespace

std::shared_ptr<const CompiledGraph> compiled_graph_for(Graph recorded, bool eager, bool of_type) {
  const Hash content = hash(recorded);
  const std::uint64_t key = content.low ^ static_cast<std::uint64_t>(eager);
  CompiledGraphs& r = compiled_graphs.get();
  std::vector<std::shared_ptr<const CompiledGraph>> dropped;
  const runtime::ForkSafeLock lock(r.mutex);
  const auto [first, last] = r.by_hash.equal_range(key);
  for (auto i = first; i != last; ++i) {
    Kept& kept = i->second;
    if (kept.compiled->eager() != eager || kept.compiled->recorded() != recorded) continue;
    r.of_no_type -= of_type && !kept.of_type;
    kept.of_type |= of_type;
    kept.last_use = ++r.uses;
    return kept.compiled;
  }
  auto made = std::make_shared<const CompiledGraph>(std::move(recorded), eager);
  r.by_hash.emplace(key, Kept{made, of_type, ++r.uses});
  r.of_no_type += !of_type;
  if (r.of_no_type > max_untyped) dropped = drop_older_half(r);
  return made;
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

const CompiledGraph* find_compiled_graph(const CallSiteCache& site, CompiledGraphKey key) noexcept {
  const auto* known = static_cast<const CallSiteGraphs*>(site.plans.load(std::memory_order_acquire));
  const KeyedGraphs* const table = known ? known->table.load(std::memory_order_seq_cst) : nullptr;
  if (!table) return nullptr;
  for (const KeyedGraph& item : table->items)
    if (equal(key, item.key)) return item.compiled.get();
  return nullptr;
}

namespace {

/// Returns the table that it replaced, if any.
std::shared_ptr<const KeyedGraphs> replace_table(CallSiteCache& site, CompiledGraphKey key,
                                                 const CompiledGraph& compiled) {
  CompiledGraphs& r = compiled_graphs.get();
  const runtime::ForkSafeLock lock(r.changing_call_sites);
  if (find_compiled_graph(site, key)) return nullptr;
  if (!site.plans.load(std::memory_order_relaxed))
    site.plans.store(&r.call_sites.emplace_back(), std::memory_order_release);
  auto& graphs_of_site = *static_cast<CallSiteGraphs*>(const_cast<void*>(site.plans.load(std::memory_order_relaxed)));
  const KeyedGraphs* const old = graphs_of_site.owner.get();
  if (old && old->items.size() >= max_keys) return nullptr;
  auto next = std::make_shared<KeyedGraphs>(old ? *old : KeyedGraphs());
  next->items.push_back({std::vector<std::uint16_t>(key.begin(), key.end()), compiled.shared_from_this()});
  return graphs_of_site.put(std::move(next));
}

}  // namespace

void add_compiled_graph(CallSiteCache& site, CompiledGraphKey key, const CompiledGraph& compiled) {
  if (std::shared_ptr<const KeyedGraphs> replaced = replace_table(site, key, compiled)) retire(std::move(replaced));
}

void drop_compiled_graphs() {
  CompiledGraphs& r = compiled_graphs.get();
  std::vector<std::shared_ptr<const KeyedGraphs>> tables;
  {
    const runtime::ForkSafeLock lock(r.changing_call_sites);
    tables.reserve(r.call_sites.size());
    for (CallSiteGraphs& e : r.call_sites) tables.push_back(e.put(nullptr));
  }
  for (std::shared_ptr<const KeyedGraphs>& table : tables)
    if (table) retire(std::move(table));
  auto dropped = std::make_shared<std::unordered_multimap<std::uint64_t, Kept>>();
  {
    const runtime::ForkSafeLock lock(r.mutex);
    dropped->swap(r.by_hash);
    r.of_no_type = 0;
  }
  retire(std::move(dropped));  // evaluations whose call-site cache was full hold references
}

}  // namespace sinter::inline v1::jit
