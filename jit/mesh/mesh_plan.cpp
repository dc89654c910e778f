#include "mesh_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "../infer/check_shapes.hpp"
#include "../infer/shapes.hpp"
#include "../passes/composite.hpp"
#include "../plan/plan_shapes.hpp"
#include "cuts.hpp"
#include "rewriting.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;

/// By node, the length of the longest chain of operations that it depends on.
std::vector<int> depths(const Graph& graph) {
  std::vector<int> depth(graph.nodes().size());
  for (std::size_t i = 0; i < depth.size(); ++i)
    for (const Operand o : graph.operands(graph.nodes()[i]))
      depth[i] = std::max(depth[i], depth[static_cast<std::size_t>(o.node)] + 1);
  return depth;
}

/// What processes compare of the whole expression. A Lazy may already have values in one process and not in another, so
/// only a type's graph is the same in all of them.
std::int64_t expression_of(const Graph& graph, const Call& call) noexcept {
  return call.is_typed ? static_cast<std::int64_t>(hash(graph).low) : 0;
}

/// Plans an evaluation: its graph is cut, step by step, until ranks can compute the rest without communication.
class MeshPlanner {
 public:
  MeshPlanner(const CompiledGraph& compiled, const Call& call)
      : compiled_(compiled),
        graph_(compiled.graph()),
        call_(call),
        mesh_(Mesh::of(call.device)),
        expression_(expression_of(graph_, call)) {
    for (const TensorImpl* t : call.leaves) {
      leaves_.push_back({placed_axis(*t), t});
      leaf_shapes_.push_back(t->shape);
    }
    sources_.resize(leaves_.size());
    std::iota(sources_.begin(), sources_.end(), 0u);
  }

  MeshPlan run() {
    check_shapes(graph_, call_.leaves);
    shapes_ = shapes_of(graph_, leaf_shapes_);
    find_wanted();
    for (Placements placed = place_all();; placed = place_all()) {
      if (has_composite(placed.cuts))
        open_composites();
      else if (!placed.leaves_agree)
        separate(placed.sliced);
      else if (placed.cuts.empty())
        return finish(placed);
      else if (!fold_counts(placed.cuts))
        join(placed);
    }
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes()[static_cast<std::size_t>(id)]; }
  const Shape& output_shape(std::size_t output) const {
    return shapes_[static_cast<std::size_t>(graph_.outputs()[output].node)];
  }
  const TensorImpl* given(std::size_t output) const { return call_.outputs ? call_.outputs[output].get() : nullptr; }

  /// The axes along which outputs should be sharded: those of given tensors. If no leaf has memory, as with random
  /// numbers, outputs are sharded along dim 0.
  void find_wanted() {
    const bool is_placed = std::ranges::any_of(call_.leaves, [](const TensorImpl* t) { return bool(t->buffer); });
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i)
      if (const TensorImpl* const to = given(i))
        wanted_.push_back(placed_axis(*to));
      else
        wanted_.push_back(is_placed ? no_axis : output_shape(i).ndim() - 1);  // no_axis if 0-d
  }

  Placements place_all() {
    shapes_ = shapes_of(graph_, leaf_shapes_);
    Placements placed = place(graph_, shapes_, leaves_);
    for (std::uint32_t i = 0; i < wanted_.size(); ++i) place_output(placed, graph_, shapes_, i, wanted_[i]);
    return placed;
  }
  bool has_composite(std::span<const Cut> cuts) const {
    return std::ranges::any_of(cuts, [&](const Cut& c) { return is_composite(node(c.node).op); });
  }

  /// Expands composite reductions; those of 16-bit floats are computed in float32.
  void open_composites() {
    Rewriting r(graph_);
    for (NodeId id = 0; id < std::ssize(graph_.nodes()); ++id) {
      const Node& n = node(id);
      std::vector<Operand> operands = r.moved_operands(n);
      const bool widens = is_reduction(n.op) && is_composite(n.op) && is_stored_only(n.dtype);
      if (!widens) {
        r.replace(id, r.unique(n, operands));
        continue;
      }
      for (Operand& o : operands) o = r.graph().cast(o, DType::Float32);
      Node wide = n;
      wide.dtype = DType::Float32;
      r.replace(id, r.graph().cast(r.unique(wide, operands), n.dtype));
    }
    take(r);
    graph_ = expand_composites(graph_, Composites::Reductions);
    Rewriting once(graph_);
    for (NodeId id = 0; id < std::ssize(graph_.nodes()); ++id)
      once.replace(id, once.unique(node(id), once.moved_operands(node(id))));
    take(once);
  }

  /// Makes constants of the numbers of elements among the cuts, since the plan is for one shape. Returns false if there
  /// are none, or if the shape of something else follows from theirs.
  bool fold_counts(std::span<const Cut> cuts) {
    const auto is_count = [&](const Cut& c) { return c.kind == Cut::Kind::Reduction && node(c.node).op == Op::count; };
    if (std::ranges::none_of(cuts, is_count)) return false;
    Rewriting r(graph_);
    for (NodeId id = 0; id < std::ssize(graph_.nodes()); ++id) {
      const auto cut = std::ranges::find(cuts, id, &Cut::node);
      r.replace(id, cut != cuts.end() && is_count(*cut) ? r.graph().constant(node(id).dtype, count_of(id))
                                                        : r.unique(node(id), r.moved_operands(node(id))));
    }
    const std::vector<Shape> folded = shapes_of(r.graph(), leaf_shapes_);
    const auto keeps_shape = [&](Operand o) {
      return folded[static_cast<std::size_t>(r.moved(o).node)] == shapes_[static_cast<std::size_t>(o.node)];
    };
    for (const Node& n : graph_.nodes())
      if (changes_shape(n.op) && !std::ranges::all_of(graph_.operands(n), keeps_shape)) return false;
    if (!std::ranges::all_of(graph_.outputs(), keeps_shape)) return false;
    take(r);
    return true;
  }
  std::uint64_t count_of(NodeId id) const {
    const std::int64_t elements = shapes_[static_cast<std::size_t>(graph_.operands(node(id))[0].node)].numel();
    return static_cast<std::uint64_t>(elements /
                                      std::max<std::int64_t>(shapes_[static_cast<std::size_t>(id)].numel(), 1));
  }

  void take(Rewriting& r) {
    for (const Operand o : graph_.outputs()) r.graph().output(r.moved(o));
    std::vector<std::uint32_t> all(graph_.outputs().size());
    std::iota(all.begin(), all.end(), 0u);
    graph_ = part_of(r.graph(), all);
    is_whole_ = false;
  }

  std::uint32_t add_value(PlacedLeaf leaf, const Shape& shape) {
    leaves_.push_back(leaf);
    leaf_shapes_.push_back(shape);
    sources_.push_back(static_cast<std::uint32_t>(sources_.size()));
    return sources_.back();
  }

  /// The values of the cuts, once they are combined, are leaves of the remaining graph, as are values that are kept.
  void join(const Placements& placed) {
    const CutGraph c{graph_, shapes_, mesh_, expression_};
    std::map<int, std::vector<Cut>> by_ranks;  // cuts whose parts the same ranks compute
    for (const Cut& cut : placed.cuts) by_ranks[ranks_of(c, cut)].push_back(cut);
    std::map<NodeId, StepResult> joined;
    for (const auto& [ranks, cuts] : by_ranks) {
      const std::vector<NodeId> kept =
          ranks == mesh_.size() ? kept_values(graph_, placed, cuts) : std::vector<NodeId>();
      std::vector<NodeId> nodes;
      for (const Cut& cut : cuts) nodes.push_back(cut.node);
      nodes.insert(nodes.end(), kept.begin(), kept.end());
      plan_.steps.push_back(step(c, placed, cuts, kept, ranks));
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        StepResult& result = plan_.steps.back().results[i];
        result.value = add_value({result.axis}, result.shape);
        joined.emplace(nodes[i], result);
      }
    }
    Rewriting r(graph_);
    for (NodeId id = 0; id < std::ssize(graph_.nodes()); ++id) {
      const auto result = joined.find(id);
      r.replace(id, result == joined.end() ? r.unique(node(id), r.moved_operands(node(id)))
                                           : go_on(r.graph(), node(id), result->second));
    }
    take(r);
  }

  /// The node's value, computed from what the step left.
  static Operand go_on(Graph& g, const Node& n, const StepResult& result) {
    if (result.kind != StepResult::Kind::Count) return g.cast(g.leaf(result.dtype, result.value), n.dtype);
    const Operand elements = g.iota(result.value);
    return g.node(n.op, n.dtype, {&elements, 1}, n.attribute);
  }

  MeshStep step(const CutGraph& c, const Placements& placed, std::span<const Cut> cuts, std::span<const NodeId> kept,
                int ranks) const {
    Graph parts = parts_graph(graph_, cuts, kept);
    MeshStep made{.ranks = ranks, .outputs = parts.outputs().size()};
    for (const Cut& cut : cuts) made.results.push_back(result_of(c, cut));
    for (const NodeId id : kept) made.results.push_back(shards(id, placed));
    for (std::uint32_t output = 0; StepResult & result : made.results) {
      result.output = output;
      output += part_count(result);
    }
    order_sums(made, c, cuts, parts);
    if (made.outputs == 0) return made;
    made.parts = evaluation(parts, place(parts, shapes_of(parts, leaf_shapes_), leaves_));
    return made;
  }
  /// The evaluation of a graph whose leaves are numbered like the values; its own are those that it reads.
  RankEvaluation evaluation(const Graph& graph, const Placements& placed) const {
    RankEvaluation made;
    std::vector<std::uint32_t> read;
    Graph own;
    for (const Node& n : graph.nodes()) {
      std::uint64_t attribute = n.attribute;
      if (is_leaf(n.op)) {
        attribute = static_cast<std::uint64_t>(std::ranges::find(read, n.attribute) - read.begin());
        if (attribute == read.size()) read.push_back(static_cast<std::uint32_t>(n.attribute));
      }
      own.node(n.op, n.dtype, graph.operands(n), attribute);
    }
    for (const Operand o : graph.outputs()) own.output(o);
    for (const std::uint32_t value : read) {
      made.leaves.push_back(sources_[value]);
      made.leaf_axes.push_back(placed.leaves[value]);
    }
    made.compiled = compiled_graph_for(std::move(own), compiled_.eager(), false);
    return made;
  }
  StepResult shards(NodeId id, const Placements& placed) const {
    const int axis = placed.axes[static_cast<std::size_t>(id)];
    return {.kind = axis == no_axis ? StepResult::Kind::Copies : StepResult::Kind::Shards,
            .op = node(id).op,
            .value = 0,
            .output = 0,
            .shape = shapes_[static_cast<std::size_t>(id)],
            .dtype = node(id).dtype,
            .axis = axis};
  }

  void order_sums(MeshStep& step, const CutGraph& c, std::span<const Cut> cuts, const Graph& parts) const {
    const std::vector<int> depth = depths(parts);
    const auto part_of = [&](std::uint32_t i) {
      return static_cast<std::size_t>(parts.outputs()[step.results[i].output].node);
    };
    for (std::uint32_t i = 0; i < cuts.size(); ++i)
      if (step.results[i].kind == StepResult::Kind::Sum) step.sums.push_back(i);
    std::ranges::sort(step.sums, {}, [&](std::uint32_t i) { return std::pair(depth[part_of(i)], i); });
    const std::vector<Shape> shapes = shapes_of(parts, leaf_shapes_);
    for (const std::uint32_t i : step.sums) {
      step.sum_parts.push_back({shapes[part_of(i)], step.results[i].dtype});
      const std::vector<std::int64_t> subject = subject_of(c, cuts[i]);
      step.sums_name.insert(step.sums_name.end(), subject.begin(), subject.end());
    }
    step.buckets = buckets_of(step.sum_parts);
  }

  /// Splits a leaf that is sliced in several ways into one leaf for each way.
  void separate(std::span<const Sliced> sliced) {
    std::map<std::pair<std::uint64_t, int>, std::uint32_t> numbers;
    const auto part = [&](Graph& g, const Node& leaf, int axis) {
      const auto [known, is_new] = numbers.try_emplace({leaf.attribute, axis}, 0);
      if (is_new) {
        known->second = add_value(leaves_[leaf.attribute], leaf_shapes_[leaf.attribute]);
        sources_.back() = sources_[leaf.attribute];
      }
      return g.node(leaf.op, leaf.dtype, {}, known->second);
    };
    Rewriting r(graph_);
    for (NodeId id = 0; id < std::ssize(graph_.nodes()); ++id) {
      std::vector<Operand> operands = r.moved_operands(node(id));
      for (const Sliced& s : sliced)
        if (s.node == id) operands[s.operand] = part(r.graph(), graph_[graph_.operands(node(id))[s.operand]], s.axis);
      r.replace(id, r.unique(node(id), operands));
    }
    for (std::uint32_t i = 0; i < graph_.outputs().size(); ++i) {
      const auto s = std::ranges::find_if(sliced, [&](const Sliced& x) { return x.node < 0 && x.operand == i; });
      r.graph().output(s == sliced.end() ? r.moved(graph_.outputs()[i])
                                         : part(r.graph(), graph_[graph_.outputs()[i]], s->axis));
    }
    graph_ = std::move(r.graph());
    is_whole_ = false;
  }

  MeshPlan finish(const Placements& placed) {
    std::vector<Shape> found;
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) found.push_back(output_shape(i));
    check_same_shapes(compiled_.graph(), call_.leaves, found);
    std::vector<std::uint32_t> computed;
    for (std::uint32_t i = 0; i < graph_.outputs().size(); ++i) {
      plan_.outputs.push_back(output(i, placed));
      plan_.outputs.back().value = own_value(i);
      if (!plan_.outputs.back().value) computed.push_back(i);
    }
    if (is_whole_)
      plan_.last = RankEvaluation{nullptr, sources_, placed.leaves};
    else if (!computed.empty())
      plan_.last = evaluation(part_of(graph_, computed), placed);
    find_last_uses();
    return std::move(plan_);
  }

  void find_last_uses() {
    plan_.last_uses.assign(sources_.size(), 0);
    const auto use = [&](std::uint32_t value, std::size_t step) {
      plan_.last_uses[value] = static_cast<std::uint32_t>(step);
    };
    const auto use_leaves = [&](const std::optional<RankEvaluation>& of, std::size_t step) {
      if (!of) return;
      for (const std::uint32_t value : of->leaves) use(value, step);
    };
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      use_leaves(plan_.steps[s].parts, s);
      for (const StepResult& result : plan_.steps[s].results) use(result.value, s);
    }
    use_leaves(plan_.last, plan_.steps.size());
    for (const MeshOutput& output : plan_.outputs)
      if (output.value) use(*output.value, plan_.steps.size());
  }

  /// The value of an earlier step that a new output is, unless an output before it is the same, or it shares its memory
  /// with others.
  std::optional<std::uint32_t> own_value(std::uint32_t output) const {
    const Node& n = graph_[graph_.outputs()[output]];
    const auto number = static_cast<std::uint32_t>(n.attribute);
    if (n.op != Op::leaf || number < call_.leaves.size() || given(output) || wanted_[output] != no_axis) return {};
    const auto is_same = [&](const MeshOutput& o) { return o.value == number; };
    if (std::ranges::any_of(plan_.outputs, is_same) || sources_[number] != number || is_in_bucket(number)) return {};
    return number;
  }
  /// Whether a value is in a bucket with others.
  bool is_in_bucket(std::uint32_t value) const {
    for (const MeshStep& step : plan_.steps)
      for (const Bucket& b : step.buckets)
        for (const std::size_t i : b.sums)
          if (step.results[step.sums[i]].value == value) return b.sums.size() > 1;
    return false;
  }

  MeshOutput output(std::size_t i, const Placements& placed) const {
    const Shape& shape = output_shape(i);
    const int axis = placed.axes[static_cast<std::size_t>(graph_.outputs()[i].node)];
    const TensorImpl* const to = given(i);
    if (!to) return {shape, axis == no_axis ? wanted_[i] : axis};
    check_output(*to, shape, call_.device);
    // A row that broadcasts along the sharded axis cannot be written shard by shard.
    const bool broadcasts = axis != no_axis && shape[shape.ndim() - 1 - axis] != to->shape[to->ndim() - 1 - axis];
    if (axis == no_axis || (axis == wanted_[i] && !broadcasts)) return {shape, wanted_[i]};
    return {shape, axis, true};
  }

  const CompiledGraph& compiled_;
  Graph graph_;           // what is left
  bool is_whole_ = true;  // it is still the compiled graph's
  const Call& call_;
  const Mesh mesh_;
  const std::int64_t expression_;
  std::vector<int> wanted_;
  std::vector<PlacedLeaf> leaves_;      // the mesh's values
  std::vector<std::uint32_t> sources_;  // by value: itself, or the one that it is another placement of
  std::vector<Shape> leaf_shapes_;
  std::vector<Shape> shapes_;  // of the nodes
  MeshPlan plan_;
};

}  // namespace

MeshPlan plan_on_mesh(const CompiledGraph& compiled, const Call& call) { return MeshPlanner(compiled, call).run(); }

}  // namespace sinter::inline v1::jit
