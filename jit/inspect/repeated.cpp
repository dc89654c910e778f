#include "repeated.hpp"

#include <algorithm>
#include <map>

#include "../ops/traits.hpp"
#include "../passes/common_subexpressions.hpp"

namespace sinter::inline v1::jit {
namespace {

class RepeatedValues {
 public:
  RepeatedValues(const Plan& plan, const PlanShapes& shapes) : shapes_(shapes) {
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) add(plan.kernels[k], static_cast<int>(k));
  }

  std::vector<std::vector<bool>> nodes() const {
    std::vector<std::vector<bool>> all;
    for (const std::vector<NodeId>& kernel : of_nodes_) {
      all.emplace_back();
      for (const NodeId id : kernel) all.back().push_back(is_counted(*value(id).node) && value(id).kernels > 1);
    }
    return all;
  }
  std::vector<Repeated> found() const {
    std::vector<Repeated> found;
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (values_[i].kernels > 1 && !leads_on(values_[i])) found.push_back(about(values_[i]));
    return found;
  }

 private:
  /// A value that nodes of one or more kernels compute.
  struct Value {
    const Node* node;
    std::vector<NodeId> operands;
    std::vector<NodeId> readers = {};
    int kernels = 0;
    int first = 0, last = -1;  // the first and last of these kernels
    bool of_elements = false;  // else it depends only on scalars
  };

  const Value& value(NodeId id) const { return values_[static_cast<std::size_t>(id)]; }
  /// Whether all kernels that compute it do so for another repeated value.
  bool leads_on(const Value& v) const {
    return std::ranges::any_of(v.readers, [&](NodeId r) { return value(r).kernels == v.kernels; });
  }
  static bool is_counted(const Node& n) noexcept { return n.arity > 0 && n.op != Op::cast; }

  Repeated about(const Value& v) const {
    std::vector<NodeId> open = v.operands;
    std::vector<bool> seen(values_.size());
    Repeated r{.op = v.node->op,
               .dtype = v.node->dtype,
               .kernels = v.kernels,
               .weight = weight(v.node->op),
               .shape = shapes_.kernels[static_cast<std::size_t>(v.first)]};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (value(id).kernels < v.kernels || seen[static_cast<std::size_t>(id)]) continue;
      seen[static_cast<std::size_t>(id)] = true;
      r.operations += is_counted(*value(id).node);
      r.weight += is_counted(*value(id).node) ? weight(value(id).node->op) : 0;
      open.insert(open.end(), value(id).operands.begin(), value(id).operands.end());
    }
    return r;
  }

  /// The value of a kernel's leaf; for a temporary, the value that was stored.
  NodeId leaf(const Node& n, const Slot& slot) {
    const auto number = std::uint64_t{slot.number};
    if (slot.kind == Slot::Kind::Temporary) return stored_.at(slot.number);
    return add(n, static_cast<std::uint64_t>(slot.kind) << 32 | number, {}, true);
  }
  NodeId add(const Node& n, std::uint64_t attribute, std::span<const Operand> operands, bool of_elements) {
    const auto next = static_cast<NodeId>(values_.size());
    const NodeId id = numbers_.add(n, attribute, operands, next);
    if (id != next) return id;
    values_.push_back({.node = &n, .operands = {}});
    values_.back().of_elements = of_elements;
    for (const Operand o : operands) {
      const NodeId operand = without_casts(o.node);
      values_.back().operands.push_back(operand);
      values_[static_cast<std::size_t>(operand)].readers.push_back(id);
      values_.back().of_elements |= value(operand).of_elements;
    }
    return id;
  }
  NodeId without_casts(NodeId id) const {
    while (value(id).node->op == Op::cast) id = value(id).operands[0];
    return id;
  }

  void add(const Kernel& kernel, int k) {
    std::vector<Operand> made, operands;
    for (const Node& n : kernel.graph.nodes()) {
      operands.clear();
      for (const Operand o : kernel.graph.operands(n)) operands.push_back(made[static_cast<std::size_t>(o.node)]);
      const NodeId id = is_leaf(n.op) ? leaf(n, kernel.inputs[n.attribute]) : add(n, n.attribute, operands, false);
      made.push_back({id, 0});
      Value& v = values_[static_cast<std::size_t>(id)];
      if (!is_counted(n) || !v.of_elements || v.last == k) continue;
      if (v.kernels++ == 0) v.first = k;
      v.last = k;
    }
    of_nodes_.emplace_back();
    for (const Operand o : made) of_nodes_.back().push_back(o.node);
    for (std::size_t i = 0; i < kernel.outputs.size(); ++i)
      if (kernel.outputs[i].kind == Slot::Kind::Temporary)
        stored_[kernel.outputs[i].number] = made[static_cast<std::size_t>(kernel.graph.outputs()[i].node)].node;
  }

  const PlanShapes& shapes_;
  ValueNumbers numbers_;
  std::vector<Value> values_;
  std::map<std::uint32_t, NodeId> stored_;     // in temporaries
  std::vector<std::vector<NodeId>> of_nodes_;  // by kernel, by node
};

}  // namespace

Repetitions repetitions(const Plan& plan, const PlanShapes& shapes) {
  const RepeatedValues values(plan, shapes);
  return {values.found(), values.nodes()};
}

}  // namespace sinter::inline v1::jit
