// Eager scheduling: one kernel for each operation as written. A conversion is part of the operations that read its
// result, as in eager libraries, and so are the parts of complex numbers.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "../infer/shapes.hpp"
#include "../passes/complex_parts.hpp"
#include "../passes/lower.hpp"
#include "plan_builder.hpp"

namespace sinter::inline v1::jit {
namespace {

class EagerScheduler {
 public:
  /// `shapes` are the nodes' shapes; empty for a plan for all shapes.
  EagerScheduler(const Graph& graph, std::vector<Shape> shapes)
      : graph_(graph), knows_shapes_(!shapes.empty()), shapes_(std::move(shapes)), values_(graph.nodes().size()) {
    shapes_.resize(values_.size());
  }

  Plan run() {
    find_readers();
    for (NodeId id = 0; id < static_cast<NodeId>(values_.size()); ++id)
      if (is_computed(id)) compute(id);
    for (NodeId id = 0; id < static_cast<NodeId>(values_.size()); ++id)
      if (!value(id).outputs.empty()) add_kernels(id, std::exchange(value(id).outputs, {}));
    return plan_.finish();
  }

 private:
  struct Value {
    bool is_free = false;           // part of the operations that read it
    bool is_read = false;           // by another operation
    bool is_factor = false;         // of a product, which reads memory
    std::vector<Slot> outputs;      // that have not been written
    std::optional<Slot> in_memory;  // once it is computed
  };

  Value& value(NodeId id) { return values_[static_cast<std::size_t>(id)]; }
  const Node& node(NodeId id) const { return graph_.nodes()[static_cast<std::size_t>(id)]; }
  const Shape& shape(NodeId id) const { return shapes_[static_cast<std::size_t>(id)]; }
  NodeId operand(NodeId id) const { return graph_.operands(node(id))[0].node; }

  bool is_computed(NodeId id) {
    const Value& v = value(id);
    return v.is_free ? v.is_factor && node(id).op != Op::leaf : v.is_read || !v.outputs.empty();
  }
  /// Chains of free values have a length of one.
  bool is_free(NodeId id) {
    if (node(id).arity == 0) return true;
    return (node(id).op == Op::cast || is_of_parts(node(id).op)) && node(id).arity == 1 &&
           (node(operand(id)).arity == 0 || !value(operand(id)).is_free);
  }

  void find_readers() {
    for (std::uint32_t i = 0; i < graph_.outputs().size(); ++i)
      value(graph_.outputs()[i].node).outputs.push_back({Slot::Kind::Output, i});
    for (NodeId id = static_cast<NodeId>(values_.size()); id-- > 0;) {
      if (!value(id).is_read && value(id).outputs.empty()) continue;
      for (const Operand o : graph_.operands(node(id))) {
        value(o.node).is_read = true;
        value(o.node).is_factor |= node(id).op == Op::matmul;
      }
    }
    for (NodeId id = 0; id < static_cast<NodeId>(values_.size()); ++id) value(id).is_free = is_free(id);
  }

  /// Computes a value for its readers, and the outputs that it is.
  void compute(NodeId id) {
    Value& v = value(id);
    std::vector<Slot> slots;
    const bool is_product = node(id).op == Op::matmul;
    if (v.is_read || (is_product && v.outputs.size() > 1)) slots.push_back(plan_.add_temporary(node(id).dtype));
    if (!is_product || slots.empty()) slots.insert(slots.end(), v.outputs.begin(), v.outputs.end()), v.outputs.clear();
    if (is_product)
      add_product(id, slots[0]);
    else
      add_kernels(id, slots);
    if (slots[0].kind == Slot::Kind::Temporary) v.in_memory = slots[0];
  }

  void add_product(NodeId id, Slot slot) {
    Kernel kernel{.outputs = {slot}, .is_product = true};
    std::vector<Operand> operands;
    for (const Operand o : graph_.operands(node(id))) {
      const Slot from = value(o.node).in_memory.value_or(leaf_slot(node(o.node)));
      operands.push_back(kernel.graph.leaf(node(o.node).dtype, static_cast<std::uint32_t>(kernel.inputs.size())));
      kernel.inputs.push_back(from);
    }
    kernel.graph.output(kernel.graph.node(Op::matmul, node(id).dtype, operands, node(id).attribute));
    kernel.name = kernel_name(kernel.graph);
    plan_.add_kernel(std::move(kernel));
  }

  /// One operation whose operands are in memory; a copy if its result is. Its kernels are named for what was written.
  void add_kernels(NodeId id, std::span<const Slot> slots) {
    Graph graph;
    Sources leaves;
    imported_.clear();
    const Operand made = value(id).in_memory ? import(graph, leaves, id) : apply(graph, leaves, id);
    for (std::size_t i = 0; i < slots.size(); ++i) graph.output(made);
    Graph lowered = lower(graph, knows_shapes_);
    Plan part = depends_on_shapes(lowered) ? schedule(std::move(lowered), leaves.shapes, RowValues::Recomputed)
                                           : schedule(std::move(lowered));
    if (part.kernels.size() == 1) part.kernels[0].name = kernel_name(graph);
    plan_.append(std::move(part), leaves, slots);
  }

  Operand apply(Graph& graph, Sources& leaves, NodeId id) {
    const Node& n = node(id);
    if (is_leaf(n.op)) return graph.node(n.op, n.dtype, {}, leaves.add(leaf_slot(n), shape(id)));
    std::vector<Operand> operands;
    for (const Operand o : graph_.operands(n)) operands.push_back(import(graph, leaves, o.node));
    return graph.node(n.op, n.dtype, operands, n.attribute);
  }
  Operand import(Graph& graph, Sources& leaves, NodeId id) {
    const auto [known, is_new] = imported_.try_emplace(id);
    if (!is_new) return known->second;
    const std::optional<Slot>& slot = value(id).in_memory;
    const Operand made = slot ? graph.leaf(node(id).dtype, static_cast<std::uint32_t>(leaves.add(*slot, shape(id))))
                              : apply(graph, leaves, id);
    return imported_[id] = made;
  }

  const Graph& graph_;
  const bool knows_shapes_;
  std::vector<Shape> shapes_;
  std::vector<Value> values_;
  std::map<NodeId, Operand> imported_;  // into the graph that is being made
  PlanBuilder plan_;
};

}  // namespace

Plan schedule_eager(const Graph& recorded) {
  Plan plan = EagerScheduler(recorded, {}).run();
  plan.graph = recorded;
  return plan;
}

Plan schedule_eager(const Graph& recorded, std::span<const Shape> leaves) {
  Plan plan = EagerScheduler(recorded, shapes_of(recorded, leaves)).run();
  plan.graph = recorded;
  return plan;
}

}  // namespace sinter::inline v1::jit
