#include "run_on_mesh.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "../infer/check_shapes.hpp"
#include "../infer/shapes.hpp"
#include "../passes/composite.hpp"
#include "../plan/plan_shapes.hpp"
#include "cuts.hpp"
#include "elementwise.hpp"
#include "run_ranks.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;

/// Copies nodes into a new graph without duplicates, replacing some of them.
class Rewriting {
 public:
  explicit Rewriting(const Graph& from) : from_(from), moved_(from.nodes().size()) {}

  Graph& graph() noexcept { return to_; }
  Operand moved(Operand o) const { return moved_[static_cast<std::size_t>(o.node)]; }
  void replace(NodeId id, Operand by) { moved_[static_cast<std::size_t>(id)] = by; }
  std::vector<Operand> moved_operands(const Node& n) const {
    std::vector<Operand> operands;
    for (const Operand o : from_.operands(n)) operands.push_back(moved(o));
    return operands;
  }
  Operand unique(const Node& n, const std::vector<Operand>& operands) {
    std::vector<NodeId> ids;
    for (const Operand o : operands) ids.push_back(o.node);
    const auto [known, is_new] = known_.try_emplace({n.op, n.dtype, n.attribute, ids});
    if (is_new) known->second = to_.node(n.op, n.dtype, operands, n.attribute);
    return known->second;
  }

 private:
  const Graph& from_;
  Graph to_;
  std::vector<Operand> moved_;
  std::map<std::tuple<Op, DType, std::uint64_t, std::vector<NodeId>>, Operand> known_;
};

const Shape& shape_of_output(const Graph& graph, std::span<const Shape> shapes, std::size_t output) {
  return shapes[static_cast<std::size_t>(graph.outputs()[output].node)];
}

/// The axes along which outputs should be sharded: those of given output arrays. If no leaf has memory, as with random
/// numbers, outputs are sharded along dim 0.
std::vector<int> wanted_axes(const Graph& graph, std::span<const Shape> shapes, const Call& call) {
  const bool is_placed = std::ranges::any_of(call.leaves, [](const TensorImpl* t) { return bool(t->buffer); });
  std::vector<int> axes;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const TensorImpl* const given = call.outputs ? call.outputs[i].get() : nullptr;
    if (given)
      axes.push_back(given->device.is_mesh() ? runtime::sharded_axis_from_end(*given) : no_axis);
    else
      axes.push_back(is_placed ? no_axis : shape_of_output(graph, shapes, i).ndim() - 1);  // no_axis if 0-d
  }
  return axes;
}

Placements place_all(const Graph& graph, std::span<const Shape> shapes, std::span<TensorImpl* const> leaves,
                     std::span<const int> wanted) {
  Placements placed = place(graph, shapes, leaves);
  for (std::uint32_t i = 0; i < wanted.size(); ++i) place_output(placed, graph, shapes, i, wanted[i]);
  return placed;
}

/// The array and placement of output i.
Result result_for(std::size_t i, const CompiledGraph& compiled, const Call& call, const Placements& placed,
                  const Shape& shape, int preferred) {
  const int axis = placed.axes[static_cast<std::size_t>(compiled.graph().outputs()[i].node)];
  if (!call.outputs || !call.outputs[i]) {
    const int taken = axis == no_axis ? preferred : axis;
    return {taken, call.runs() ? empty_placed(shape, taken, compiled.dtype(i), call.device) : TensorRef()};
  }
  const TensorRef& given = call.outputs[i];
  check_output(*given, shape, call.device);
  const int wanted = runtime::sharded_axis_from_end(*given);
  // A row that broadcasts along the sharded axis cannot be written shard by shard.
  const bool broadcasts = axis != no_axis && shape[shape.ndim() - 1 - axis] != given->shape[given->ndim() - 1 - axis];
  if (axis == no_axis || (axis == wanted && !broadcasts)) return {wanted, given};
  return {axis, call.runs() ? empty_placed(shape, axis, compiled.dtype(i), call.device) : TensorRef()};
}

/// An evaluation without communication. `shapes` are those of the compiled graph's nodes.
void run_placed(const CompiledGraph& compiled, const Call& call, const Mesh& mesh, const Placements& placed,
                std::span<const Shape> shapes, std::span<const int> wanted) {
  std::vector<Result> results;
  for (std::size_t i = 0; i < compiled.outputs(); ++i)
    results.push_back(result_for(i, compiled, call, placed, shape_of_output(compiled.graph(), shapes, i), wanted[i]));
  if (call.outputs) check_outputs_disjoint({call.outputs, compiled.outputs()});
  run_ranks(compiled, call, mesh, placed.leaves, results);
  if (!call.runs()) return;
  for (std::size_t i = 0; i < results.size(); ++i) {
    TensorRef& given = call.outputs[i];
    if (!given)
      given = std::move(results[i].array);
    else if (given != results[i].array)
      copy(*given, *results[i].array);
    else
      given->buffer->touch();
  }
}

/// What processes compare of the whole expression. A Lazy may already have values in one process and not in another, so
/// only a type's graph is the same in all of them.
std::int64_t expression_of(const Graph& graph, const Call& call) noexcept {
  return call.is_typed ? static_cast<std::int64_t>(hash(graph).low) : 0;
}

/// An evaluation whose graph is cut, stage by stage, until ranks can compute the rest without communication.
class Stages {
 public:
  Stages(const Graph& graph, const Call& call, bool eager, std::vector<int> wanted)
      : recorded_(graph),
        graph_(graph),
        call_(call),
        mesh_(Mesh::of(call.device)),
        eager_(eager),
        expression_(expression_of(graph, call)),
        wanted_(std::move(wanted)) {
    for (TensorImpl* t : call.leaves) leaves_.push_back(TensorRef::share(t));
  }

  void run() {
    for (Placements placed = place_now();; placed = place_now()) {
      if (has_composite(placed.cuts))
        open_composites();
      else if (!placed.leaves_agree)
        separate(placed.sliced);
      else if (!placed.cuts.empty())
        join(placed.cuts);
      else
        return finish(placed);
    }
  }

 private:
  Placements place_now() {
    pointers_.clear();
    for (const TensorRef& t : leaves_) pointers_.push_back(t.get());
    shapes_ = shapes_of(graph_, shapes_of_leaves(pointers_));
    return place_all(graph_, shapes_, pointers_, wanted_);
  }
  bool has_composite(std::span<const Cut> cuts) const {
    return std::ranges::any_of(cuts, [&](const Cut& c) { return is_composite(node(c.node).op); });
  }
  const Node& node(NodeId id) const { return graph_.nodes()[static_cast<std::size_t>(id)]; }

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

  void take(Rewriting& r) {
    for (const Operand o : graph_.outputs()) r.graph().output(r.moved(o));
    std::vector<std::uint32_t> all(graph_.outputs().size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    graph_ = part_of(r.graph(), all);
  }

  /// Computes the values of the cuts, which become leaves of the remaining graph.
  void join(std::span<const Cut> cuts) {
    const std::vector<CombinedCut> joined =
        combine_cuts({graph_, shapes_, own_call(), mesh_, eager_, expression_}, cuts);
    Rewriting r(graph_);
    for (NodeId id = 0; id < std::ssize(graph_.nodes()); ++id) {
      const auto cut = std::ranges::find(cuts, id, &Cut::node);
      if (cut == cuts.end())
        r.replace(id, r.unique(node(id), r.moved_operands(node(id))));
      else
        r.replace(id, go_on(r.graph(), node(id), joined[static_cast<std::size_t>(cut - cuts.begin())]));
    }
    take(r);
  }
  /// The node's value, computed from the combined result.
  Operand go_on(Graph& g, const Node& n, const CombinedCut& joined) {
    const auto number = static_cast<std::uint32_t>(leaves_.size());
    leaves_.push_back(joined.value);
    if (!joined.counts) return g.cast(g.leaf(joined.value->dtype, number), n.dtype);
    const Operand elements = g.iota(number);
    return g.node(n.op, n.dtype, {&elements, 1}, n.attribute);
  }
  Call own_call() const {
    Call own = call_;
    own.leaves = pointers_;
    return own;
  }

  /// Splits a leaf that is sliced in several ways into one leaf for each way.
  void separate(std::span<const Sliced> sliced) {
    std::map<std::pair<std::uint64_t, int>, std::uint32_t> numbers;
    const auto part = [&](Graph& g, const Node& leaf, int axis) {
      const auto [known, is_new] = numbers.try_emplace({leaf.attribute, axis}, leaves_.size());
      if (is_new) leaves_.push_back(leaves_[leaf.attribute]);
      return leaf.op == Op::iota ? g.iota(known->second) : g.leaf(leaf.dtype, known->second);
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
  }

  void finish(const Placements& placed) {
    std::vector<Shape> found;
    for (const Operand o : graph_.outputs()) found.push_back(shapes_[static_cast<std::size_t>(o.node)]);
    check_same_shapes(recorded_, call_.leaves, found);
    run_placed(*compiled_graph_for(graph_, eager_, false), own_call(), mesh_, placed, shapes_, wanted_);
  }

  const Graph& recorded_;
  Graph graph_;
  const Call& call_;
  const Mesh mesh_;
  const bool eager_;
  const std::int64_t expression_;
  const std::vector<int> wanted_;
  std::vector<TensorRef> leaves_;
  std::vector<TensorImpl*> pointers_;
  std::vector<Shape> shapes_;
};

}  // namespace

void run_on_mesh(const CompiledGraph& compiled, const Call& call) {
  if (run_elementwise_on_mesh(compiled, call)) return;
  const Graph& graph = compiled.graph();
  check_shapes(graph, call.leaves);
  const std::vector<Shape> shapes = shapes_of(graph, shapes_of_leaves(call.leaves));
  std::vector<int> wanted = wanted_axes(graph, shapes, call);
  const Placements placed = place_all(graph, shapes, call.leaves, wanted);
  if (placed.cuts.empty() && placed.leaves_agree)
    run_placed(compiled, call, Mesh::of(call.device), placed, shapes, wanted);
  else
    Stages(graph, call, compiled.eager(), std::move(wanted)).run();
}

}  // namespace sinter::inline v1::jit
