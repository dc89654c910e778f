// Graphs with matrix products, to kernels: products by themselves, and what is computed between them in stages. A
// stage follows the products that it depends on; what its kernels compute is scheduled as a graph of its own, whose
// leaves are the evaluation's, results of products, and what earlier stages left in memory.
#include <algorithm>
#include <optional>
#include <utility>

#include "node_set.hpp"
#include "plan_builder.hpp"
#include "shapes.hpp"

namespace sinter::inline v1::jit {
namespace {

class ProductScheduler {
 public:
  ProductScheduler(const Graph& graph, std::span<const Shape> leaves, bool eager)
      : graph_(graph), shapes_(shapes_of(graph, leaves)), eager_(eager), values_(graph.nodes().size()) {}

  Plan run() {
    find_stages();
    for (int stage = last_stage_; stage >= 0; --stage) find_stored(stage);
    for (int stage = 0; stage <= last_stage_; ++stage) {
      add_products(stage);
      add_stage(stage);
    }
    return plan_.finish();
  }

 private:
  struct Value {
    int stage = 0;             // how many products follow each other up to it
    bool needed = false;       // for some output
    bool stored = false;       // others find it in memory
    std::optional<Slot> slot;  // where it is, once it is computed
    Operand built;             // in the graph of a stage
    int built_in = -1;
  };

  Value& value(NodeId id) { return values_[static_cast<std::size_t>(id)]; }
  const Node& node(NodeId id) const { return graph_.nodes()[static_cast<std::size_t>(id)]; }
  const Shape& shape(NodeId id) const { return shapes_[static_cast<std::size_t>(id)]; }
  NodeId count() const noexcept { return static_cast<NodeId>(values_.size()); }
  bool is_product(NodeId id) const { return node(id).op == Op::matmul; }

  void find_stages() {
    for (const Operand o : graph_.outputs()) value(o.node).needed = true;
    for (NodeId id = count(); id-- > 0;)
      if (value(id).needed)
        for (const Operand o : graph_.operands(node(id))) value(o.node).needed = true;
    for (NodeId id = 0; id < count(); ++id) {
      Value& v = value(id);
      if (!v.needed) continue;
      for (const Operand o : graph_.operands(node(id))) {
        v.stage = std::max(v.stage, value(o.node).stage + is_product(id));
        value(o.node).stored |= is_product(id) && node(o.node).op != Op::leaf;
      }
      last_stage_ = std::max(last_stage_, v.stage);
    }
  }

  /// What a stage computes for products and for the user.
  std::vector<NodeId> roots(int stage) {
    std::vector<NodeId> found;
    for (NodeId id = 0; id < count(); ++id)
      if (value(id).stored && value(id).stage == stage && !is_product(id)) found.push_back(id);
    for (const Operand o : graph_.outputs())
      if (value(o.node).stage == stage) found.push_back(o.node);
    return found;
  }

  /// What a stage computes is computed again where a later one reads it, but for results of reductions, which are small
  /// and take long: these are stored.
  void find_stored(int stage) {
    std::vector<NodeId> open = roots(stage);
    NodeSet seen;
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (!seen.add(id)) continue;
      Value& v = value(id);
      if (v.stage < stage && info(node(id).op).reduction == Reduction::Reduces) v.stored = true;
      if (is_product(id) || (v.stored && v.stage < stage)) continue;
      for (const Operand o : graph_.operands(node(id))) open.push_back(o.node);
    }
  }

  Slot leaf_slot(const Node& n) const {
    return {n.op == Op::array ? Slot::Kind::Array : Slot::Kind::Leaf, static_cast<std::uint32_t>(n.attribute)};
  }
  Slot slot_of(NodeId id) { return node(id).op == Op::leaf ? leaf_slot(node(id)) : *value(id).slot; }

  /// Where a product goes: to the output itself where nothing else reads it.
  Slot target_of(NodeId id) {
    std::optional<std::uint32_t> output;
    std::size_t uses = 0;
    for (std::uint32_t i = 0; i < graph_.outputs().size(); ++i)
      if (graph_.outputs()[i].node == id) output = i, ++uses;
    for (const Operand o : graph_.all_operands()) uses += o.node == id;
    if (output && uses == 1) return {Slot::Kind::Output, *output};
    return plan_.add_temporary(node(id).dtype);
  }

  void add_products(int stage) {
    for (NodeId id = 0; id < count(); ++id) {
      if (!value(id).needed || value(id).stage != stage || !is_product(id)) continue;
      Kernel kernel;
      kernel.is_product = true;
      std::vector<Operand> operands;
      for (const Operand o : graph_.operands(node(id))) {
        operands.push_back(kernel.graph.leaf(node(o.node).dtype, static_cast<std::uint32_t>(kernel.inputs.size())));
        kernel.inputs.push_back(slot_of(o.node));
      }
      kernel.graph.output(kernel.graph.node(Op::matmul, node(id).dtype, operands));
      value(id).slot = target_of(id);
      kernel.outputs.push_back(*value(id).slot);
      kernel.name = kernel_name(kernel.graph);
      plan_.add_kernel(std::move(kernel));
    }
  }

  void add_stage(int stage) {
    Graph graph;
    Sources leaves;
    std::vector<Slot> slots;
    for (std::uint32_t i = 0; i < graph_.outputs().size(); ++i) {
      const NodeId id = graph_.outputs()[i].node;
      const Slot slot{Slot::Kind::Output, i};
      if (value(id).stage != stage || value(id).slot == slot) continue;
      graph.output(build(graph, leaves, id, stage));
      slots.push_back(slot);
    }
    std::vector<NodeId> made;
    for (NodeId id = 0; id < count(); ++id) {
      if (!value(id).stored || value(id).stage != stage || is_product(id)) continue;
      graph.output(build(graph, leaves, id, stage));
      slots.push_back(plan_.add_temporary(node(id).dtype));
      made.push_back(id);
    }
    if (slots.empty()) return;
    Plan part =
        eager_ ? schedule_rows_eager(graph, leaves.shapes) : schedule_rows(simplify(graph, true), leaves.shapes);
    plan_.append(std::move(part), leaves, slots);
    for (std::size_t i = 0; i < made.size(); ++i) value(made[i]).slot = slots[slots.size() - made.size() + i];
  }

  /// The value in a stage's graph. What it depends on is built first, by hand: expressions may be deep.
  Operand build(Graph& graph, Sources& leaves, NodeId root, int stage) {
    std::vector<NodeId> open{root};
    while (!open.empty()) {
      const NodeId id = open.back();
      const std::size_t before = open.size();
      if (value(id).built_in != stage && !is_read(id))
        for (const Operand o : graph_.operands(node(id)))
          if (value(o.node).built_in != stage) open.push_back(o.node);
      if (open.size() > before) continue;
      open.pop_back();
      if (value(id).built_in == stage) continue;
      value(id).built = build_one(graph, leaves, id);
      value(id).built_in = stage;
    }
    return value(root).built;
  }

  /// Whether it is in memory already.
  bool is_read(NodeId id) { return value(id).slot.has_value(); }

  Operand build_one(Graph& graph, Sources& leaves, NodeId id) {
    const Node& n = node(id);
    if (is_read(id)) return graph.leaf(n.dtype, static_cast<std::uint32_t>(leaves.add(*value(id).slot, shape(id))));
    if (n.op == Op::leaf || n.op == Op::index || n.op == Op::array)
      return graph.node(n.op, n.dtype, {}, leaves.add(leaf_slot(n), shape(id)));
    std::vector<Operand> operands;
    for (const Operand o : graph_.operands(n)) operands.push_back(value(o.node).built);
    return graph.node(n.op, n.dtype, operands, n.attribute);
  }

  const Graph& graph_;
  const std::vector<Shape> shapes_;
  const bool eager_;
  std::vector<Value> values_;
  int last_stage_ = 0;
  PlanBuilder plan_;
};

}  // namespace

Plan schedule_products(const Graph& recorded, std::span<const Shape> leaves, bool eager) {
  Plan plan = ProductScheduler(recorded, leaves, eager).run();
  plan.graph = recorded;
  return plan;
}

}  // namespace sinter::inline v1::jit
