// Eager scheduling of graphs that reduce: one kernel for each operation.
#include <optional>
#include <utility>

#include "../infer/shapes.hpp"
#include "../passes/lower.hpp"
#include "plan_builder.hpp"

namespace sinter::inline v1::jit {
namespace {

/// One kernel for each operation as written. A conversion is part of the operation that reads its result, as in eager
/// libraries.
class EagerRows {
 public:
  EagerRows(const Graph& graph, std::span<const Shape> leaves)
      : graph_(graph), shapes_(shapes_of(graph, leaves)), slots_(graph.nodes().size()) {}

  Plan run() {
    find_needed();
    for (NodeId id = 0; id < static_cast<NodeId>(slots_.size()); ++id)
      if (needed_[static_cast<std::size_t>(id)] && !is_free(id)) {
        const Slot slot = plan_.add_temporary(node(id).dtype);
        compute(id, slot);
        slots_[static_cast<std::size_t>(id)] = slot;
      }
    for (std::uint32_t i = 0; i < graph_.outputs().size(); ++i)
      compute(graph_.outputs()[i].node, {Slot::Kind::Output, i});
    return plan_.finish();
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes()[static_cast<std::size_t>(id)]; }
  const Shape& shape(NodeId id) const { return shapes_[static_cast<std::size_t>(id)]; }
  NodeId operand(NodeId id) const { return graph_.operands(node(id))[0].node; }
  bool is_free(NodeId id) const {
    if (node(id).arity == 0) return true;
    return node(id).op == Op::cast && node(operand(id)).op != Op::cast;
  }

  /// Marks values that another operation reads. An output that no operation reads needs no temporary.
  void find_needed() {
    needed_.assign(slots_.size(), false);
    std::vector<bool> live(slots_.size());
    for (const Operand o : graph_.outputs()) live[static_cast<std::size_t>(o.node)] = true;
    for (NodeId id = static_cast<NodeId>(slots_.size()); id-- > 0;)
      if (live[static_cast<std::size_t>(id)])
        for (const Operand o : graph_.operands(node(id)))
          live[static_cast<std::size_t>(o.node)] = needed_[static_cast<std::size_t>(o.node)] = true;
  }

  /// One operation whose operands are in memory.
  void compute(NodeId id, Slot slot) {
    Graph graph;
    Sources leaves;
    std::vector<Operand> operands;
    const bool known = slots_[static_cast<std::size_t>(id)].has_value();
    if (!known && node(id).arity > 0)
      for (const Operand o : graph_.operands(node(id))) operands.push_back(import(graph, leaves, o.node));
    graph.output(known || node(id).arity == 0 ? import(graph, leaves, id)
                                              : graph.node(node(id).op, node(id).dtype, operands, node(id).attribute));
    Graph lowered = lower(graph);
    Plan part =
        depends_on_shapes(lowered) ? schedule_rows(std::move(lowered), leaves.shapes) : schedule(std::move(lowered));
    plan_.append(std::move(part), leaves, {&slot, 1});
  }

  Operand import(Graph& graph, Sources& leaves, NodeId id) {
    const Node& n = node(id);
    const auto& slot = slots_[static_cast<std::size_t>(id)];
    if (slot) return graph.leaf(n.dtype, static_cast<std::uint32_t>(leaves.add(*slot, shape(id))));
    if (n.op == Op::leaf || n.op == Op::iota || n.op == Op::array) {
      const auto kind = n.op == Op::array ? Slot::Kind::Array : Slot::Kind::Leaf;
      return graph.node(n.op, n.dtype, {}, leaves.add({kind, static_cast<std::uint32_t>(n.attribute)}, shape(id)));
    }
    Operand from;
    if (n.arity > 0) from = import(graph, leaves, operand(id));
    return graph.node(n.op, n.dtype, {&from, n.arity}, n.attribute);
  }

  const Graph& graph_;
  const std::vector<Shape> shapes_;
  std::vector<std::optional<Slot>> slots_;  // of values that were computed
  std::vector<bool> needed_;
  PlanBuilder plan_;
};

}  // namespace

Plan schedule_rows_eager(const Graph& recorded, std::span<const Shape> leaves) {
  Plan plan = EagerRows(recorded, leaves).run();
  plan.graph = recorded;
  return plan;
}

}  // namespace sinter::inline v1::jit
