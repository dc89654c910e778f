#include "cuts.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "../plan/fanout_free_cones.hpp"

namespace sinter::inline v1::jit {
namespace {

constexpr std::uint8_t leading = 1 << 1;  // the first of two axes

bool adds(Op op) noexcept { return op == Op::sum || op == Op::matmul; }
Op extreme_of(Op op) noexcept { return op == Op::argmax ? Op::amax : Op::amin; }
DType accumulates_in(DType dtype) noexcept { return is_stored_only(dtype) ? DType::Float32 : dtype; }

const Node& node_of(const CutGraph& c, const Cut& cut) { return c.graph.nodes()[static_cast<std::size_t>(cut.node)]; }
const Shape& shape_of(const CutGraph& c, NodeId node) { return c.shapes[static_cast<std::size_t>(node)]; }
const Shape& operand_shape(const CutGraph& c, const Cut& cut) {
  return shape_of(c, c.graph.operands(node_of(c, cut))[0].node);
}
/// The rows of a reduction's operand that are divided among the ranks.
std::int64_t sharded_rows(const CutGraph& c, const Cut& cut) {
  const Shape& operand = operand_shape(c, cut);
  return operand[operand.ndim() - 1 - cut.axis];
}

StepResult::Kind kind_of(const CutGraph& c, const Cut& cut) {
  if (cut.kind == Cut::Kind::Value) return StepResult::Kind::Copies;
  const Op op = node_of(c, cut).op;
  return adds(op) ? StepResult::Kind::Sum : op == Op::count ? StepResult::Kind::Count : StepResult::Kind::Reduction;
}

/// The number of ranks that have rows; these are the first ones.
int ranks_with_rows(const Mesh& mesh, std::int64_t rows) noexcept {
  int count = 0;
  while (count < mesh.size() && mesh.rows(rows, count) > 0) ++count;
  return count;
}

/// Appends a rank's partial results for a node.
void put_parts(Graph& g, const Node& n, std::span<const Operand> operands, Cut::Kind kind) {
  if (kind == Cut::Kind::Value) return g.output(operands[0]);
  if (kind == Cut::Kind::Product)
    return g.output(g.cast(g.node(n.op, n.dtype, operands, n.attribute), accumulates_in(n.dtype)));
  if (n.op == Op::count) return;
  Operand x = operands[0];
  if (traits_of(n.op).gives_position) g.output(g.node(extreme_of(n.op), g[x].dtype, {&x, 1}, n.attribute));
  DType dtype = n.dtype;
  if (adds(n.op) || n.op == Op::prod) x = g.cast(x, dtype = accumulates_in(dtype));
  g.output(g.node(n.op, dtype, {&x, 1}, n.attribute));
}

/// The reduction itself, over the partial results of all ranks that have rows.
Graph reduction_of_parts(Op op, DType dtype) {
  Graph g;
  const Operand parts = g.leaf(dtype, 0);
  g.output(g.node(op, dtype, {&parts, 1}, ReduceAxes{leading, false}.bits()));
  return g;
}

/// How the rows of an argmax or argmin are divided among the ranks.
struct DividedRows {
  std::int64_t rows;
  std::int64_t each;   // of all ranks but the last ones
  std::int64_t inner;  // the number of reduced elements for each row
};

DividedRows divided_rows(const CutGraph& c, const Cut& cut) {
  const Shape& operand = operand_shape(c, cut);
  const std::int64_t rows = sharded_rows(c, cut);
  std::int64_t inner = 1;
  for (int from_end = 0; from_end < cut.axis; ++from_end)
    if (ReduceAxes::of(node_of(c, cut).attribute).axes >> from_end & 1) inner *= operand[-1 - from_end];
  return {rows, (rows + c.mesh.size() - 1) / c.mesh.size(), std::max<std::int64_t>(inner, 1)};
}

/// The smallest position of the largest (or smallest) element; NaN takes precedence.
Graph smallest_position(Op op, DType dtype, const DividedRows& divided) {
  Graph g;
  const Operand value = g.leaf(dtype, 0), local = g.leaf(DType::Int64, 1), number = g.iota(2);
  const auto apply = [&](Op applied, auto... o) { return g.apply(applied, std::array{o...}); };
  const auto constant = [&](std::int64_t v) { return g.constant(DType::Int64, static_cast<std::uint64_t>(v)); };
  const Operand best = g.node(extreme_of(op), dtype, {&value, 1}, ReduceAxes{leading, true}.bits());
  const Operand both_nan = apply(Op::logical_and, apply(Op::ne, value, value), apply(Op::ne, best, best));
  const Operand wins = apply(Op::logical_or, apply(Op::eq, value, best), both_nan);
  const Operand inner = constant(divided.inner), all_rows = constant(divided.rows), each = constant(divided.each);
  const Operand first = apply(Op::minimum, apply(Op::mul, number, each), all_rows);
  const Operand end = apply(Op::minimum, apply(Op::add, apply(Op::mul, number, each), each), all_rows);
  const Operand rows = apply(Op::sub, end, first);
  const Operand line = apply(Op::floor_divide, local, inner), within = apply(Op::remainder, local, inner);
  const Operand row = apply(Op::add, apply(Op::remainder, line, rows), first);
  const Operand outer = apply(Op::mul, apply(Op::floor_divide, line, rows), all_rows);
  const Operand position = apply(Op::add, apply(Op::mul, apply(Op::add, outer, row), inner), within);
  const Operand none = constant(std::numeric_limits<std::int64_t>::max());
  const Operand candidate = apply(Op::where, wins, position, none);
  g.output(g.node(Op::amin, DType::Int64, {&candidate, 1}, ReduceAxes{leading, false}.bits()));
  return g;
}

StepResult::Gathered gathered(const CutGraph& c, const Cut& cut) {
  const Node& n = node_of(c, cut);
  const Shape& operand = operand_shape(c, cut);
  const std::int64_t elements = reduced_shape(operand, ReduceAxes::of(n.attribute)).numel();
  StepResult::Gathered made{.rows = ranks_with_rows(c.mesh, sharded_rows(c, cut)), .subject = subject_of(c, cut)};
  for (int rank = 0; rank < c.mesh.size(); ++rank) made.counts.push_back(rank < made.rows ? elements : 0);
  made.numbers_ranks = traits_of(n.op).gives_position;
  if (made.numbers_ranks) {
    const DType dtype = c.graph[c.graph.operands(n)[0]].dtype;
    made.parts = {dtype, DType::Int64};
    made.compiled = compiled_graph_for(smallest_position(n.op, dtype, divided_rows(c, cut)), false, false);
  } else {
    made.parts = {n.op == Op::prod ? accumulates_in(n.dtype) : n.dtype};
    made.compiled = compiled_graph_for(reduction_of_parts(n.op, made.parts[0]), false, false);
  }
  return made;
}

}  // namespace

std::vector<NodeId> kept_values(const Graph& graph, const Placements& placed, std::span<const Cut> cuts) {
  const auto nodes = graph.nodes();
  const auto index = [](NodeId id) { return static_cast<std::size_t>(id); };
  std::vector<bool> is_cut(nodes.size()), is_in_parts(nodes.size()), is_read_later(nodes.size());
  const auto mark_operands = [&](std::vector<bool>& marked, std::size_t of) {
    for (const Operand o : graph.operands(nodes[of])) marked[index(o.node)] = true;
  };
  for (const Cut& cut : placed.cuts) is_cut[index(cut.node)] = true;
  for (const Cut& cut : cuts) mark_operands(is_in_parts, index(cut.node));
  for (std::size_t i = nodes.size(); i-- > 0;)
    if (is_in_parts[i]) mark_operands(is_in_parts, i);
  FanoutFreeCones cones(graph);
  const auto is_worth_keeping = [&](std::size_t i) {
    if (!is_in_parts[i] || placed.axes[i] == depends_on_cut || compute_dtype(nodes[i].dtype) != nodes[i].dtype)
      return false;
    const int enough = instructions_worth_storing({.computations = 2, .readers = 2, .bytes = size_of(nodes[i].dtype)});
    return cones.instructions(static_cast<NodeId>(i), enough, [](NodeId) { return false; }) >= enough;
  };
  std::vector<NodeId> kept;
  for (const Operand o : graph.outputs()) is_read_later[index(o.node)] = true;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!is_read_later[i] || is_cut[i]) continue;
    if (is_worth_keeping(i))
      kept.push_back(static_cast<NodeId>(i));
    else
      mark_operands(is_read_later, i);
  }
  std::ranges::reverse(kept);
  return kept;
}

Graph parts_graph(const Graph& graph, std::span<const Cut> cuts, std::span<const NodeId> kept) {
  Graph parts;
  for (const Node& n : graph.nodes()) parts.node(n.op, n.dtype, graph.operands(n), n.attribute);
  for (const Cut& c : cuts) {
    const Node& n = graph.nodes()[static_cast<std::size_t>(c.node)];
    const Operand itself{c.node};
    put_parts(parts, n, c.kind == Cut::Kind::Value ? std::span(&itself, 1) : graph.operands(n), c.kind);
  }
  for (const NodeId id : kept) parts.output({id});
  std::vector<std::uint32_t> all(parts.outputs().size());
  std::iota(all.begin(), all.end(), 0u);
  return part_of(parts, all);
}

int ranks_of(const CutGraph& c, const Cut& cut) {
  return kind_of(c, cut) == StepResult::Kind::Reduction ? ranks_with_rows(c.mesh, sharded_rows(c, cut)) : c.mesh.size();
}

std::vector<std::int64_t> subject_of(const CutGraph& c, const Cut& cut) {
  const Node& n = node_of(c, cut);
  const Shape& operand = operand_shape(c, cut);
  std::vector<std::int64_t> numbers(operand.begin(), operand.end());
  numbers.insert(numbers.end(),
                 {c.expression, cut.axis, static_cast<std::int64_t>(n.op), static_cast<std::int64_t>(n.attribute)});
  return numbers;
}

StepResult result_of(const CutGraph& c, const Cut& cut) {
  const Node& n = node_of(c, cut);
  StepResult made{
      .kind = kind_of(c, cut), .op = n.op, .value = 0, .output = 0, .shape = shape_of(c, cut.node), .dtype = n.dtype};
  if (made.kind == StepResult::Kind::Sum) made.dtype = accumulates_in(n.dtype);
  if (made.kind == StepResult::Kind::Count) made.shape = operand_shape(c, cut);
  if (made.kind == StepResult::Kind::Reduction) {
    made.gathered = gathered(c, cut);
    if (!made.gathered->numbers_ranks) made.dtype = made.gathered->parts[0];
  }
  return made;
}

std::uint32_t part_count(const StepResult& result) noexcept {
  switch (result.kind) {
    case StepResult::Kind::Count: return 0;
    case StepResult::Kind::Reduction: return static_cast<std::uint32_t>(result.gathered->parts.size());
    default: return 1;
  }
}

}  // namespace sinter::inline v1::jit
