#include "cuts.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include <runtime/collective/call.hpp>
#include <sinter/jit/recorded.hpp>
#include <sinter/runtime/communicator.hpp>
#include <sinter/runtime/error.hpp>
#include "../infer/shapes.hpp"
#include "buckets.hpp"
#include "run_ranks.hpp"

namespace sinter::inline v1::jit {
namespace {

using runtime::TensorImpl;
using runtime::TensorRef;
using RankParts = std::vector<TensorRef>;  // by rank of this process

bool adds(Op op) noexcept { return op == Op::sum || op == Op::matmul; }
/// The number of arrays that a rank computes for a cut: the value, and for argmax and argmin also its position.
std::size_t part_count(const Node& n) noexcept {
  return n.op == Op::count ? 0 : traits_of(n.op).gives_position ? 2 : 1;
}
Op extreme_of(Op op) noexcept { return op == Op::argmax ? Op::amax : Op::amin; }

DType accumulates_in(DType dtype) noexcept { return is_stored_only(dtype) ? DType::Float32 : dtype; }

/// The number of ranks that have rows; these are the first ones.
int ranks_with_rows(const Mesh& mesh, std::int64_t rows) noexcept {
  int count = 0;
  while (count < mesh.size() && mesh.rows(rows, count) > 0) ++count;
  return count;
}

/// Appends a rank's partial results for a node; reduced axes stay, with an extent of 1.
void put_parts(Graph& g, const Node& n, std::span<const Operand> operands, Cut::Kind kind) {
  if (kind == Cut::Kind::Value) return g.output(operands[0]);
  if (kind == Cut::Kind::Product)
    return g.output(g.cast(g.node(n.op, n.dtype, operands, n.attribute), accumulates_in(n.dtype)));
  if (n.op == Op::count) return;
  const std::uint64_t along = ReduceAxes{ReduceAxes::of(n.attribute).axes, true}.bits();
  Operand x = operands[0];
  if (traits_of(n.op).gives_position) g.output(g.node(extreme_of(n.op), g[x].dtype, {&x, 1}, along));
  DType dtype = n.dtype;
  if (adds(n.op) || n.op == Op::prod) x = g.cast(x, dtype = accumulates_in(dtype));
  g.output(g.node(n.op, dtype, {&x, 1}, along));
}

/// The graph that computes a rank's partial results for all cuts.
Graph parts_graph(const Graph& graph, std::span<const Cut> cuts) {
  Graph parts;
  for (const Node& n : graph.nodes()) parts.node(n.op, n.dtype, graph.operands(n), n.attribute);
  for (const Cut& c : cuts) {
    const Node& n = graph.nodes()[static_cast<std::size_t>(c.node)];
    const Operand itself{c.node};
    put_parts(parts, n, c.kind == Cut::Kind::Value ? std::span(&itself, 1) : graph.operands(n), c.kind);
  }
  std::vector<std::uint32_t> all(parts.outputs().size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return part_of(parts, all);
}

/// Each rank evaluates the same graph over replicated arrays.
TensorRef evaluate_replicated(Graph graph, std::span<const TensorRef> leaves, const Mesh& mesh) {
  std::vector<TensorImpl*> arrays;
  for (const TensorRef& t : leaves) arrays.push_back(t.get());
  const Call call{.leaves = arrays, .device = mesh};
  const std::vector<int> axes(leaves.size(), no_axis);
  RankResults made =
      run_ranks(*compiled_graph_for(std::move(graph), false, false), call, mesh, axes, std::array{Result()});
  return runtime::replicated_from_copies(std::move(made[0]), mesh);
}

TensorRef with_shape(const TensorImpl& t, const Shape& shape) {
  return runtime::view(t, shape, contiguous_strides(shape));
}

/// The values that the processes compare to detect different calls: the operand's graph too where it belongs to a type,
/// not of a Lazy, which may already have values in one process and not in another.
std::vector<std::int64_t> subject_of(const Node& n, const Shape& operand, int axis, std::int64_t expression) {
  std::vector<std::int64_t> numbers(operand.begin(), operand.end());
  numbers.insert(numbers.end(),
                 {expression, axis, static_cast<std::int64_t>(n.op), static_cast<std::int64_t>(n.attribute)});
  return numbers;
}

/// Combines the partial results of one cut.
class CutCombiner {
 public:
  CutCombiner(const Node& n, const Shape& operand, int axis, const Mesh& mesh, std::int64_t expression)
      : node_(n),
        operand_(operand),
        axis_(operand.ndim() - 1 - axis),
        mesh_(mesh),
        rows_(operand[axis_]),
        each_((rows_ + mesh.size() - 1) / mesh.size()),
        elements_(reduced_shape(operand, ReduceAxes::of(n.attribute)).numel()),
        subject_(subject_of(n, operand, axis, expression)) {}

  /// Applies the reduction itself to the partial results of all ranks that have rows.
  TensorRef by_reduction(const RankParts& parts) const {
    const TensorRef gathered = gather(parts, node_.op == Op::prod ? accumulates_in(node_.dtype) : node_.dtype);
    Graph g;
    const Operand leaf = g.leaf(gathered->dtype, 0);
    g.output(g.node(node_.op, gathered->dtype, {&leaf, 1}, ReduceAxes{leading, false}.bits()));
    return evaluate_replicated(std::move(g), {&gathered, 1}, mesh_);
  }

  /// The smallest position of the largest (or smallest) element; NaN takes precedence.
  TensorRef smallest_position(const RankParts& extremes, const RankParts& positions, DType operand_dtype) const {
    const std::array leaves{gather(extremes, operand_dtype), gather(positions, DType::Int64),
                            runtime::iota_tensor({parts_with_rows(), 1}, mesh_)};
    Graph g;
    const Operand value = g.leaf(leaves[0]->dtype, 0), local = g.leaf(DType::Int64, 1), number = g.iota(2);
    const auto apply = [&](Op op, auto... o) { return g.apply(op, std::array{o...}); };
    const auto constant = [&](std::int64_t v) { return g.constant(DType::Int64, static_cast<std::uint64_t>(v)); };
    const Operand best = g.node(extreme_of(node_.op), leaves[0]->dtype, {&value, 1}, ReduceAxes{leading, true}.bits());
    const Operand both_nan = apply(Op::logical_and, apply(Op::ne, value, value), apply(Op::ne, best, best));
    const Operand wins = apply(Op::logical_or, apply(Op::eq, value, best), both_nan);
    // `inner` is the number of reduced elements for each row of the sharded axis.
    const Operand inner = constant(combined_after()), all_rows = constant(rows_);
    const Operand first = apply(Op::minimum, apply(Op::mul, number, constant(each_)), all_rows);
    const Operand end =
        apply(Op::minimum, apply(Op::add, apply(Op::mul, number, constant(each_)), constant(each_)), all_rows);
    const Operand rows = apply(Op::sub, end, first);
    const Operand line = apply(Op::floor_divide, local, inner), within = apply(Op::remainder, local, inner);
    const Operand row = apply(Op::add, apply(Op::remainder, line, rows), first);
    const Operand outer = apply(Op::mul, apply(Op::floor_divide, line, rows), all_rows);
    const Operand position = apply(Op::add, apply(Op::mul, apply(Op::add, outer, row), inner), within);
    const Operand none = constant(std::numeric_limits<std::int64_t>::max());
    const Operand candidate = apply(Op::where, wins, position, none);
    g.output(g.node(Op::amin, DType::Int64, {&candidate, 1}, ReduceAxes{leading, false}.bits()));
    return evaluate_replicated(std::move(g), leaves, mesh_);
  }

 private:
  static constexpr std::uint8_t leading = 1 << 1;  // the first of two axes

  std::int64_t parts_with_rows() const { return ranks_with_rows(mesh_, rows_); }

  /// (parts, elements of a part), replicated.
  TensorRef gather(const RankParts& parts, DType dtype) const {
    const std::int64_t elements = elements_;
    std::vector<std::int64_t> counts;
    for (int p = 0; p < mesh_.size(); ++p) counts.push_back(mesh_.rows(rows_, p) > 0 ? elements : 0);
    RankParts from, to;
    for (int i = 0; i < mesh_.local_size(); ++i) {
      const TensorRef& part = parts[static_cast<std::size_t>(i)];
      const Device device = mesh_.device(mesh_.first_local_rank() + i);
      from.push_back(part ? with_shape(*part, {elements}) : runtime::empty({0}, dtype, device));
      to.push_back(runtime::empty({parts_with_rows(), elements}, dtype, device));
    }
    mesh_.communicator().all_gather(from, to, counts);
    return runtime::replicated_from_copies(std::move(to), mesh_);
  }

  /// The number of reduced elements for each row of the sharded axis.
  std::int64_t combined_after() const {
    std::int64_t count = 1;
    for (int axis = axis_ + 1; axis < operand_.ndim(); ++axis)
      if (ReduceAxes::of(node_.attribute).axes >> (operand_.ndim() - 1 - axis) & 1) count *= operand_[axis];
    return std::max<std::int64_t>(count, 1);
  }

  const Node& node_;
  const Shape& operand_;
  const int axis_;  // the sharded one, counted from the first
  const Mesh& mesh_;
  const std::int64_t rows_, each_;
  const std::int64_t elements_;  // of a part
  const runtime::Subject subject_;
};

const Node& node_of(const CutCall& c, const Cut& cut) { return c.graph.nodes()[static_cast<std::size_t>(cut.node)]; }
const Shape& shape_of(const CutCall& c, NodeId node) { return c.shapes[static_cast<std::size_t>(node)]; }
bool is_sum(const CutCall& c, const Cut& cut) { return cut.kind != Cut::Kind::Value && adds(node_of(c, cut).op); }
bool is_count(const CutCall& c, const Cut& cut) {
  return cut.kind == Cut::Kind::Reduction && node_of(c, cut).op == Op::count;
}

/// How many ranks can compute a part: an empty shard has no largest element.
int ranks_of(const CutCall& c, const Cut& cut) {
  if (cut.kind != Cut::Kind::Reduction || is_sum(c, cut) || is_count(c, cut)) return c.mesh.size();
  const Shape& operand = shape_of(c, c.graph.operands(node_of(c, cut))[0].node);
  return ranks_with_rows(c.mesh, operand[operand.ndim() - 1 - cut.axis]);
}

/// The value of a cut that is no sum.
TensorRef join(const CutCall& c, const Cut& cut, std::span<RankParts> parts) {
  if (cut.kind == Cut::Kind::Value) return runtime::replicated_from_copies(std::move(parts[0]), c.mesh);
  const Node& n = node_of(c, cut);
  const Operand operand = c.graph.operands(n)[0];
  const Shape& shape = shape_of(c, operand.node);
  if (n.op == Op::count) return runtime::iota_tensor(shape, c.mesh);
  const CutCombiner combiner(n, shape, cut.axis, c.mesh, c.expression);
  return with_shape(traits_of(n.op).gives_position
                        ? *combiner.smallest_position(parts[0], parts[1], c.graph[operand].dtype)
                        : *combiner.by_reduction(parts[0]),
                    shape_of(c, cut.node));
}

/// Shows the visitor what joining the parts of a cut that is no sum sends.
void show_gathers(const CutCall& c, const Cut& cut) {
  if (cut.kind == Cut::Kind::Value || is_count(c, cut)) return;
  const Node& n = node_of(c, cut);
  const auto elements = static_cast<double>(shape_of(c, cut.node).numel());
  const auto gather = [&](Op op, DType dtype) {
    c.call.visitor->collective({Collective::Kind::AllGather, op, dtype, elements, c.mesh.size()});
  };
  if (traits_of(n.op).gives_position) gather(extreme_of(n.op), c.graph[c.graph.operands(n)[0]].dtype);
  gather(n.op, n.op == Op::prod ? accumulates_in(n.dtype) : n.dtype);
}

/// By node, the length of the longest chain of operations that it depends on.
std::vector<int> depths(const Graph& graph) {
  std::vector<int> depth(graph.nodes().size());
  for (std::size_t i = 0; i < depth.size(); ++i)
    for (const Operand o : graph.operands(graph.nodes()[i]))
      depth[i] = std::max(depth[i], depth[static_cast<std::size_t>(o.node)] + 1);
  return depth;
}

/// Some cuts, whose partial results the first `ranks` ranks compute in one evaluation.
class Combination {
 public:
  Combination(const CutCall& c, std::span<const Cut> cuts, int ranks)
      : c_(c), cuts_(cuts), ranks_(ranks), graph_(parts_graph(c.graph, cuts)), results_(graph_.outputs().size()) {
    for (std::size_t output = 0; const Cut& cut : cuts) {
      first_outputs_.push_back(output);
      if (is_sum(c, cut)) sums_.push_back({&cut, output});
      output += cut.kind == Cut::Kind::Value ? 1 : part_count(node_of(c, cut));
    }
    const std::vector<int> depth = depths(graph_);
    std::ranges::sort(sums_, {}, [&](const Sum& s) {
      return std::pair(depth[static_cast<std::size_t>(graph_.outputs()[s.output].node)], s.output);
    });
  }

  std::vector<CombinedCut> values() {
    const std::vector<Shape> shapes = shapes_of(graph_, shapes_of_leaves(c_.call.leaves));
    std::vector<PartialSum> sums;
    for (const Sum& sum : sums_) {
      const NodeId node = graph_.outputs()[sum.output].node;
      sums.push_back({shapes[static_cast<std::size_t>(node)], graph_.nodes()[static_cast<std::size_t>(node)].dtype});
    }
    if (!c_.call.runs()) {
      if (c_.mesh.size() > 1) show_collectives(sums);
      run(shapes, c_.call);
      return placeholders();
    }
    const BucketArrays buckets(sums, c_.mesh);
    for (std::size_t i = 0; i < sums_.size(); ++i) results_[sums_[i].output].array = buckets[i];
    Call call = c_.call;
    call.marks_outputs = buckets.overlap();
    run(shapes, call);
    {
      const runtime::Subject subject(subject_of_sums());
      buckets.all_reduce();
    }
    return joined();
  }

 private:
  struct Sum {
    const Cut* cut;
    std::size_t output;
  };

  void run(std::span<const Shape> shapes, const Call& call) {
    if (results_.empty()) return;
    const Placements placed = place(graph_, shapes, call.leaves);
    parts_ = run_ranks(*compiled_graph_for(std::move(graph_), c_.eager, false), call, c_.mesh, placed.leaves, results_,
                       ranks_);
  }
  std::vector<CombinedCut> joined() {
    std::vector<CombinedCut> values;
    for (std::size_t i = 0; const Cut& cut : cuts_) {
      const std::size_t first = first_outputs_[i++];
      values.push_back({is_sum(c_, cut) ? with_shape(*results_[first].array, shape_of(c_, cut.node))
                                        : join(c_, cut, std::span(parts_).subspan(first)),
                        is_count(c_, cut)});
    }
    return values;
  }
  /// Of the values' shapes and dtypes, where nothing runs.
  std::vector<CombinedCut> placeholders() const {
    std::vector<CombinedCut> values;
    for (const Cut& cut : cuts_) {
      const Node& n = node_of(c_, cut);
      values.push_back({is_count(c_, cut)
                            ? join(c_, cut, {})
                            : runtime::empty_replicated(shape_of(c_, cut.node), accumulates_in(n.dtype), c_.mesh),
                        is_count(c_, cut)});
    }
    return values;
  }
  void show_collectives(std::span<const PartialSum> sums) const {
    for (const Bucket& b : buckets_of(sums))
      c_.call.visitor->collective({.kind = Collective::Kind::AllReduce,
                                   .op = node_of(c_, *sums_[b.sums[0]].cut).op,
                                   .dtype = b.dtype,
                                   .elements = static_cast<double>(b.elements),
                                   .ranks = c_.mesh.size(),
                                   .values = static_cast<int>(b.sums.size())});
    for (const Cut& cut : cuts_)
      if (!is_sum(c_, cut)) show_gathers(c_, cut);
  }
  std::vector<std::int64_t> subject_of_sums() const {
    std::vector<std::int64_t> numbers;
    for (const Sum& sum : sums_) {
      const Node& n = node_of(c_, *sum.cut);
      const Shape& operand = shape_of(c_, c_.graph.operands(n)[0].node);
      const auto of_cut = subject_of(n, operand, sum.cut->axis, c_.expression);
      numbers.insert(numbers.end(), of_cut.begin(), of_cut.end());
    }
    return numbers;
  }

  const CutCall& c_;
  const std::span<const Cut> cuts_;
  const int ranks_;
  Graph graph_;
  std::vector<Result> results_;
  std::vector<std::size_t> first_outputs_;  // by cut
  std::vector<Sum> sums_;                   // by depth, roughly the order in which ranks compute the parts
  RankResults parts_;
};

}  // namespace

std::vector<CombinedCut> combine_cuts(const CutCall& c, std::span<const Cut> cuts) {
  std::map<int, std::vector<std::size_t>> by_ranks;  // cuts whose parts the same ranks compute
  for (std::size_t i = 0; i < cuts.size(); ++i) by_ranks[ranks_of(c, cuts[i])].push_back(i);
  std::vector<CombinedCut> values(cuts.size());
  for (const auto& [ranks, indices] : by_ranks) {
    std::vector<Cut> together;
    for (const std::size_t i : indices) together.push_back(cuts[i]);
    std::vector<CombinedCut> found = Combination(c, together, ranks).values();
    for (std::size_t i = 0; i < indices.size(); ++i) values[indices[i]] = std::move(found[i]);
  }
  return values;
}

}  // namespace sinter::inline v1::jit
