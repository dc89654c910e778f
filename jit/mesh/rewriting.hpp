// Copying a graph while nodes are replaced.
#pragma once
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

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

}  // namespace sinter::inline v1::jit
