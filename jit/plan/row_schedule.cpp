// Scheduling for given shapes: one kernel for each group of reductions, elementwise kernels for values that others need
// in memory, and for outputs that no group computes.
#include <algorithm>
#include <map>
#include <utility>

#include "group_kernel.hpp"

namespace sinter::inline v1::jit {
namespace {

class RowScheduler {
 public:
  RowScheduler(const Graph& graph, std::span<const Shape> leaves, RowValues rows)
      : groups_(graph, leaves, rows), slots_(groups_, plan_), built_(groups_.size()) {
    for (const std::size_t output : groups_.rest())
      rest_.emplace(groups_.output(output), static_cast<std::uint32_t>(output));
  }

  Plan run() {
    for (std::size_t made = 0; made < groups_.size();)
      for (std::size_t g = 0; g < groups_.size(); ++g)
        if (is_ready(g)) build(g), ++made;
    build_rest();
    return plan_.finish();
  }

 private:
  bool is_ready(std::size_t g) const {
    if (built_[g]) return false;
    const GroupSet& after = groups_[g].after;
    for (std::size_t d = after.find_first(); d != GroupSet::npos; d = after.find_next(d))
      if (d != g && !built_[d]) return false;
    return true;
  }

  void build(std::size_t g) {
    const BackwardSlice c = groups_.backward_slice(groups_.roots(g), static_cast<int>(g));
    built_[g] = true;
    if (!is_read(g, c)) return;
    build_materialized(c.needed, static_cast<int>(g));
    for (const NodeId r : groups_[g].reductions)
      build_materialized(groups_.shape_sources(groups_.operand(r), static_cast<int>(g)), static_cast<int>(g));
    plan_.add_kernel(group_kernel(groups_, g, slots_));
  }

  /// Whether any of the group's results is read: some reductions are needed only for their shape.
  bool is_read(std::size_t g, const BackwardSlice& c) const {
    return !groups_[g].outputs.empty() || std::ranges::any_of(c.needed, [&](NodeId id) {
      return groups_.is_stored(id) && groups_.owner(id) == static_cast<int>(g);
    });
  }

  /// Computes, by elementwise kernels, the materialized values that a kernel of the group reads.
  void build_materialized(std::span<const NodeId> read, int group) {
    for (const NodeId id : read)
      if (groups_.is_boundary(id, group)) materialize(id);
  }
  /// The kernel also writes the outputs that are this value.
  void materialize(NodeId id) {
    if (!groups_.is_materialized(id) || slots_.is_written(id)) return;
    std::vector<Slot> slots{slots_.add(id)};
    const auto [begin, end] = rest_.equal_range(id);
    for (auto output = begin; output != end; ++output) slots.push_back({Slot::Kind::Output, output->second});
    build_elementwise(std::vector<NodeId>(slots.size(), id), slots, true);
  }

  /// An elementwise kernel for `values`. With `computes`, these are materialized values, which it computes instead of
  /// reading them.
  void build_elementwise(std::span<const NodeId> values, std::span<const Slot> outputs, bool computes) {
    const BackwardSlice c = groups_.backward_slice(values, RowGroups::no_group, computes);
    build_materialized(c.needed, RowGroups::no_group);
    Graph graph;
    Sources leaves;
    std::vector<Operand> built(c.needed.size()), operands;
    for (const NodeId id : c.needed) {
      const Node& n = groups_.node(id);
      Operand& made = built[c.place(id)];
      const bool root = computes && std::ranges::find(values, id) != values.end();
      if (groups_.is_boundary(id, RowGroups::no_group) && !root) {
        made = graph.leaf(n.dtype, static_cast<std::uint32_t>(leaves.add(slots_[id], groups_.shape(id))));
        continue;
      }
      operands.clear();
      for (const Operand o : groups_.values_of(id)) operands.push_back(built[c.place(o.node)]);
      if (is_leaf(n.op))
        made = graph.node(n.op, n.dtype, {}, leaves.add(slots_[id], groups_.shape(id)));
      else if (n.op == Op::broadcast_like)
        made = broadcast_to_shape_of(graph, operands[0], id, leaves);
      else
        made = graph.node(n.op, n.dtype, operands, n.attribute);
    }
    for (const NodeId id : values) graph.output(built[c.place(id)]);
    plan_.append(schedule(std::move(graph)), leaves, outputs);
  }

  /// Broadcasts a value to the shape of another, which an elementwise kernel must then read as well.
  Operand broadcast_to_shape_of(Graph& graph, Operand value, NodeId id, Sources& leaves) {
    const std::span<const Operand> operands = groups_.graph().operands(groups_.node(id));
    if (groups_.shape(operands[0].node) == groups_.shape(id)) return value;
    for (const NodeId source : groups_.shape_sources(operands[1].node, RowGroups::no_group)) {
      materialize(source);
      const Node& n = groups_.node(source);
      const Op op = is_leaf(n.op) ? n.op : Op::leaf;
      const Operand tensor = graph.node(op, n.dtype, {}, leaves.add(slots_[source], groups_.shape(source)));
      value = broadcast_by_select(graph, value, tensor);
    }
    return value;
  }

  /// Broadcasts a value to the shape of a tensor, by operations that executors implement.
  static Operand broadcast_by_select(Graph& graph, Operand value, Operand tensor) {
    const DType dtype = graph[value].dtype;
    if (is_complex(dtype)) {
      const Operand parts[] = {broadcast_by_select(graph, part_of_number(graph, value, 0), tensor),
                               part_of_number(graph, value, 1)};
      return graph.node(Op::complex, dtype, parts);
    }
    if (is_complex(graph[tensor].dtype)) tensor = graph.node(Op::real, real_of(graph[tensor].dtype), {&tensor, 1});
    const DType carried = compute_dtype(dtype);
    tensor = graph.cast(graph.cast(tensor, compute_dtype(graph[tensor].dtype)), carried);
    const Operand operands[] = {graph.constant(DType::Bool, 1), graph.cast(value, carried), tensor};
    return graph.cast(graph.node(Op::where, carried, operands), dtype);
  }
  static Operand part_of_number(Graph& graph, Operand value, std::size_t part) {
    if (graph[value].op == Op::complex) return graph.operands(graph[value])[part];
    return graph.node(part == 0 ? Op::real : Op::imag, real_of(graph[value].dtype), {&value, 1});
  }

  /// The remaining outputs: one elementwise plan for each shape.
  void build_rest() {
    std::vector<std::size_t> rest;
    for (const std::size_t output : groups_.rest())
      if (const NodeId id = groups_.output(output); groups_.is_materialized(id))
        materialize(id);
      else
        rest.push_back(output);
    while (!rest.empty()) {
      const Shape first = groups_.shape(groups_.output(rest[0]));
      std::vector<NodeId> values;
      std::vector<Slot> slots;
      std::vector<std::size_t> later;
      for (const std::size_t output : rest) {
        const NodeId id = groups_.output(output);
        if (groups_.shape(id) != first) {
          later.push_back(output);
          continue;
        }
        values.push_back(id);
        slots.push_back({Slot::Kind::Output, static_cast<std::uint32_t>(output)});
      }
      rest = std::move(later);
      build_elementwise(values, slots, false);
    }
  }

  const RowGroups groups_;
  PlanBuilder plan_;
  ValueSlots slots_;
  std::vector<bool> built_;
  std::multimap<NodeId, std::uint32_t> rest_;  // the remaining outputs, by value
};

}  // namespace

Plan schedule(Graph simplified, std::span<const Shape> leaves, RowValues rows) {
  Plan plan = RowScheduler(simplified, leaves, rows).run();
  plan.graph = std::move(simplified);
  return plan;
}

}  // namespace sinter::inline v1::jit
