// Scheduling of graphs with matrix products. Each product is a kernel, together with the scaling and the addend that a
// BLAS supports. The operations between products are computed in stages: stage n follows n consecutive products. A
// stage is scheduled as a separate graph, whose leaves are the evaluation's leaves, products, and values that earlier
// stages stored.
#include <algorithm>
#include <optional>
#include <utility>

#include "../infer/shapes.hpp"
#include "fanout_free_cones.hpp"
#include "plan_builder.hpp"
#include "product.hpp"

namespace sinter::inline v1::jit {
namespace {

class ProductScheduler {
 public:
  ProductScheduler(const Graph& graph, std::span<const Shape> leaves, RowValues rows)
      : graph_(graph), shapes_(shapes_of(graph, leaves)), rows_(rows), cones_(graph), values_(graph.nodes().size()) {}

  Plan run() {
    find_needed();
    find_products();
    find_needed();
    find_stages();
    find_joins();
    const int stages = static_cast<int>(stages_.size());
    find_stored();
    for (int stage = 0; stage < stages; ++stage) {
      add_products(stage);
      add_stage(stage);
    }
    return plan_.finish();
  }

 private:
  /// alpha a b + beta addend; belongs to the last node of this expression.
  struct Product {
    NodeId matmul, sum = -1, alpha = -1, addend = -1, beta = -1;  // -1 if absent
    std::vector<NodeId> inputs;                                   // a, b, addend
  };

  struct Value {
    int stage = 0;             // the largest number of consecutive products that it depends on
    NodeId source = -1;        // the only array of its size that it is computed from; itself if there are several
    bool needed = false;       // some output depends on it
    bool stored = false;       // written to memory for other stages or products
    int uses = 0;              // number of needed values and outputs that read it
    int outputs = 0;           // number of outputs among them
    NodeId reader = -1;        // the last value that reads it
    std::optional<Slot> slot;  // once it is computed
    std::optional<Product> product;
    Operand built;  // in the graph of stage `built_in`
    int built_in = -1;
  };

  /// One stage: its needed values in ascending order, and its outputs.
  struct Stage {
    std::vector<NodeId> values;
    std::vector<std::uint32_t> outputs;
  };

  const Stage& at(int stage) const { return stages_[static_cast<std::size_t>(stage)]; }
  Value& value(NodeId id) { return values_[static_cast<std::size_t>(id)]; }
  const Node& node(NodeId id) const { return graph_.nodes()[static_cast<std::size_t>(id)]; }
  const Shape& shape(NodeId id) const { return shapes_[static_cast<std::size_t>(id)]; }
  NodeId count() const noexcept { return static_cast<NodeId>(values_.size()); }
  bool is_product(NodeId id) { return value(id).product.has_value(); }
  bool is_number(NodeId id) const { return node(id).op == Op::scalar || node(id).op == Op::constant; }
  NodeId operand(NodeId id, std::size_t i) const { return graph_.operands(node(id))[i].node; }
  template <class F>
  void for_each_input(NodeId id, F f) {
    if (is_product(id))
      std::ranges::for_each(value(id).product->inputs, f);
    else
      for (const Operand o : graph_.operands(node(id))) f(o.node);
  }

  void find_needed() {
    for (Value& v : values_) v.needed = false, v.uses = v.outputs = 0;
    for (const Operand o : graph_.outputs()) value(o.node).needed = true, ++value(o.node).uses, ++value(o.node).outputs;
    for (NodeId id = count(); id-- > 0;)
      if (value(id).needed)
        for_each_input(id, [&](NodeId input) {
          Value& v = value(input);
          v.needed = true, ++v.uses, v.reader = id;
        });
  }

  /// The reader of a value if it is the only one and performs this operation; else -1.
  NodeId only_reader(NodeId id, Op op) {
    const Value& v = value(id);
    return v.uses == 1 && v.outputs == 0 && node(v.reader).op == op && category(node(id).dtype) == Category::Float
               ? v.reader
               : -1;
  }
  NodeId other_operand(NodeId reader, NodeId id) const {
    return operand(reader, 0) == id ? operand(reader, 1) : operand(reader, 0);
  }

  void find_products() {
    for (NodeId id = 0; id < count(); ++id) {
      if (node(id).op != Op::matmul || !value(id).needed) continue;
      Product p{.matmul = id, .inputs = {operand(id, 0), operand(id, 1)}};
      const NodeId last = take_addend(p, take_factor(p, take_sum(p)));
      value(last).product = std::move(p);
    }
  }

  /// Takes over the sum over the batch, if there is one.
  NodeId take_sum(Product& p) {
    const NodeId id = p.matmul, reader = only_reader(id, Op::sum);
    const auto takes = [&](ReduceAxes along) {
      return sums_batch(shape(p.inputs[0]), shape(p.inputs[1]), Transposed::of(node(id).attribute), along);
    };
    if (reader < 0 || !takes(ReduceAxes::of(node(reader).attribute))) return id;
    return p.sum = reader;
  }

  /// Takes over the multiplication by a number, if there is one. Returns the node that the product then computes.
  NodeId take_factor(Product& p, NodeId id) {
    const NodeId reader = only_reader(id, Op::mul);
    if (reader < 0 || !is_number(other_operand(reader, id))) return id;
    p.alpha = other_operand(reader, id);
    return reader;
  }

  /// Takes over the addition of a tensor, unless a kernel that follows anyway can add it at no cost.
  NodeId take_addend(Product& p, NodeId id) {
    const NodeId reader = only_reader(id, Op::add);
    const bool are_matrices = shape(p.inputs[0]).ndim() > 1 && shape(p.inputs[1]).ndim() > 1;
    if (reader < 0 || !are_matrices || contracted(p) == 0 || !is_for_memory(reader)) return id;
    NodeId added = other_operand(reader, id), number = -1;
    if (node(added).op == Op::mul && value(added).uses == 1) {
      const std::size_t which = is_number(operand(added, 0)) ? 0 : 1;
      number = operand(added, which), added = operand(added, 1 - which);
      if (!is_number(number)) return id;
    }
    if (node(added).op != Op::leaf || shape(added) != shape(id)) return id;
    p.addend = added, p.beta = number;
    p.inputs.push_back(added);
    return reader;
  }

  std::int64_t contracted(const Product& p) const {
    return transposed(shape(p.inputs[0]), Transposed::of(node(p.matmul).attribute).a)[-1];
  }

  /// Whether only products and outputs read it.
  bool is_for_memory(NodeId id) {
    int read = value(id).outputs;
    for (NodeId reader = id + 1; reader < count(); ++reader)
      if (node(reader).op == Op::matmul && value(reader).needed)
        read += static_cast<int>(std::ranges::count(graph_.operands(node(reader)), id, &Operand::node));
    return read == value(id).uses;
  }

  void find_stages() {
    for (NodeId id = 0; id < count(); ++id) {
      Value& v = value(id);
      if (!v.needed) continue;
      for_each_input(id, [&](NodeId input) {
        v.stage = std::max(v.stage, value(input).stage + is_product(id));
        value(input).stored |= is_product(id) && node(input).op != Op::leaf;
      });
      if (static_cast<std::size_t>(v.stage) >= stages_.size()) stages_.resize(static_cast<std::size_t>(v.stage) + 1);
      stages_[static_cast<std::size_t>(v.stage)].values.push_back(id);
    }
    for (std::uint32_t i = 0; i < graph_.outputs().size(); ++i)
      stages_[static_cast<std::size_t>(value(graph_.outputs()[i].node).stage)].outputs.push_back(i);
  }

  /// The values of a stage that products, later stages or the user read.
  std::vector<NodeId> roots(int stage) {
    std::vector<NodeId> found;
    for (const NodeId id : at(stage).values)
      if (value(id).stored && !is_product(id)) found.push_back(id);
    for (const std::uint32_t i : at(stage).outputs) found.push_back(graph_.outputs()[i].node);
    return found;
  }

  /// Finds the values that combine several arrays of their own size, such as the sums in a chain of residuals.
  void find_joins() {
    for (NodeId id = 0; id < count(); ++id) {
      Value& v = value(id);
      const Op op = node(id).op;
      if (!v.needed || is_number(id)) continue;
      if (node(id).arity == 0 || is_product(id) || is_reduction(op)) {
        v.source = id;
        continue;
      }
      for_each_input(id, [&](NodeId input) {
        const NodeId from = value(input).source;
        if (from < 0 || shape(from).numel() != shape(id).numel()) return;
        v.source = v.source < 0 || v.source == from ? from : id;
      });
    }
  }
  bool joins(NodeId id) { return value(id).source == id && node(id).arity > 0 && !is_reduction(node(id).op); }

  /// A value that later stages read is recomputed there. Stored are results of reductions, which are small and
  /// expensive, values that combine several arrays, all of which would have to be read again, and values that cost more
  /// to recompute. Readers come first: they determine which stages compute what they read.
  void find_stored() {
    std::vector<std::vector<int>> computed_in(values_.size());
    for (NodeId id = count(); id-- > 0;) {
      Value& v = value(id);
      if (!v.needed) continue;
      std::vector<int>& stages = computed_in[static_cast<std::size_t>(id)];
      if (v.outputs > 0) insert(v.stage, stages);
      const bool reduces = info(node(id).op).reduction == Reduction::Reduces;
      const bool is_read_later = !stages.empty() && stages.back() > v.stage && node(id).arity > 0;
      v.stored |= is_read_later && (reduces || joins(id) || is_costly(id, static_cast<int>(stages.size())));
      if (v.stored || is_product(id)) stages = {v.stage};
      for_each_input(id, [&](NodeId input) {
        if (node(input).arity == 0) return;
        for (const int stage : stages) insert(stage, computed_in[static_cast<std::size_t>(input)]);
      });
    }
  }
  static void insert(int stage, std::vector<int>& stages) {
    const auto at = std::ranges::lower_bound(stages, stage);
    if (at == stages.end() || *at != stage) stages.insert(at, stage);
  }

  /// Whether recomputing a value in all stages costs more than storing it; a 16-bit value would be rounded by that.
  bool is_costly(NodeId id, int stages) {
    const DType dtype = node(id).dtype;
    if (is_product(id) || compute_dtype(dtype) != dtype) return false;
    const int enough = instructions_worth_storing({.computations = stages, .readers = stages, .bytes = size_of(dtype)});
    const auto stops = [&](NodeId from) { return is_product(from) || is_reduction(node(from).op); };
    return stages > 1 && cones_.instructions(id, enough, stops) >= enough;
  }

  Slot slot_of(NodeId id) { return node(id).op == Op::leaf ? leaf_slot(node(id)) : *value(id).slot; }

  /// The destination of a product: the output itself if nothing else reads it, else a temporary.
  Slot target_of(NodeId id) {
    std::optional<std::uint32_t> output;
    for (std::uint32_t i = 0; i < graph_.outputs().size(); ++i)
      if (graph_.outputs()[i].node == id) output = i;
    if (output && value(id).uses == 1) return {Slot::Kind::Output, *output};
    return plan_.add_temporary(node(id).dtype);
  }

  void add_products(int stage) {
    for (const NodeId id : at(stage).values) {
      if (!is_product(id)) continue;
      Kernel kernel = kernel_of(*value(id).product, node(id).dtype);
      value(id).slot = target_of(id);
      kernel.outputs.push_back(*value(id).slot);
      plan_.add_kernel(std::move(kernel));
    }
  }

  /// The product's kernel, without its output.
  Kernel kernel_of(const Product& p, DType dtype) {
    Kernel kernel;
    kernel.is_product = true;
    Graph& graph = kernel.graph;
    const auto input = [&](NodeId id) {
      kernel.inputs.push_back(slot_of(id));
      return graph.leaf(dtype, static_cast<std::uint32_t>(kernel.inputs.size() - 1));
    };
    const auto times = [&](Operand made, NodeId number) {
      if (number < 0) return made;
      const Operand factors[] = {made, graph.node(node(number).op, node(number).dtype, {}, node(number).attribute)};
      return graph.node(Op::mul, dtype, factors);
    };
    const Operand factors[] = {input(p.inputs[0]), input(p.inputs[1])};
    Operand made = graph.node(Op::matmul, dtype, factors, node(p.matmul).attribute);
    if (p.sum >= 0) made = graph.node(Op::sum, dtype, {&made, 1}, node(p.sum).attribute);
    made = times(made, p.alpha);
    if (p.addend >= 0) {
      const Operand terms[] = {made, times(input(p.addend), p.beta)};
      made = graph.node(Op::add, dtype, terms);
    }
    graph.output(made);
    kernel.name = kernel_name(graph);
    return kernel;
  }

  void add_stage(int stage) {
    Graph graph;
    Sources leaves;
    std::vector<Slot> slots;
    for (const std::uint32_t i : at(stage).outputs) {
      const NodeId id = graph_.outputs()[i].node;
      const Slot slot{Slot::Kind::Output, i};
      if (value(id).slot == slot) continue;
      graph.output(build(graph, leaves, id, stage));
      slots.push_back(slot);
    }
    std::vector<NodeId> made;
    for (const NodeId id : at(stage).values) {
      if (!value(id).stored || is_product(id)) continue;
      graph.output(build(graph, leaves, id, stage));
      slots.push_back(plan_.add_temporary(node(id).dtype));
      made.push_back(id);
    }
    if (slots.empty()) return;
    plan_.append(schedule(simplify(graph, true), leaves.shapes, rows_), leaves, slots);
    for (std::size_t i = 0; i < made.size(); ++i) value(made[i]).slot = slots[slots.size() - made.size() + i];
  }

  /// Builds a value in a stage's graph. Uses an explicit stack, since expressions may be deep.
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

  /// Whether the value is in memory already.
  bool is_read(NodeId id) { return value(id).slot.has_value(); }

  Operand build_one(Graph& graph, Sources& leaves, NodeId id) {
    const Node& n = node(id);
    if (is_read(id)) return graph.leaf(n.dtype, static_cast<std::uint32_t>(leaves.add(*value(id).slot, shape(id))));
    if (is_leaf(n.op)) return graph.node(n.op, n.dtype, {}, leaves.add(leaf_slot(n), shape(id)));
    std::vector<Operand> operands;
    for (const Operand o : graph_.operands(n)) operands.push_back(value(o.node).built);
    return graph.node(n.op, n.dtype, operands, n.attribute);
  }

  const Graph& graph_;
  const std::vector<Shape> shapes_;
  const RowValues rows_;
  FanoutFreeCones cones_;
  std::vector<Value> values_;
  std::vector<Stage> stages_;
  PlanBuilder plan_;
};

}  // namespace

Plan schedule_products(const Graph& recorded, std::span<const Shape> leaves, RowValues rows) {
  Plan plan = ProductScheduler(recorded, leaves, rows).run();
  plan.graph = recorded;
  return plan;
}

}  // namespace sinter::inline v1::jit
