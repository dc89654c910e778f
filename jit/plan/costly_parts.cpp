#include "costly_parts.hpp"

#include <algorithm>
#include <bit>

#include "cost_model.hpp"
#include "fanout_free_cones.hpp"

namespace sinter::inline v1::jit {
namespace {

using LeafMask = std::uint64_t;
constexpr std::size_t max_leaves = 64;
constexpr std::size_t max_parts = 8;  // further ones are ignored

class Parts {
 public:
  explicit Parts(const Graph& graph) : graph_(graph), cones_(graph) {}

  std::vector<CostlyPart> found() {
    if (!number_leaves()) return {};
    for (const Operand o : graph_.outputs()) all_ |= mask(o);
    for (NodeId id = 0; id < std::ssize(masks_) && parts_.size() < max_parts; ++id)
      for (const Operand o : values_of(graph_, node(id)))
        if (mask(o) != masks_[static_cast<std::size_t>(id)]) add(o.node);
    return std::move(parts_);
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes()[static_cast<std::size_t>(id)]; }
  LeafMask mask(Operand o) const { return masks_[static_cast<std::size_t>(o.node)]; }

  /// Finds the leaves that each value depends on. False if there are too many.
  bool number_leaves() {
    for (const Node& n : graph_.nodes()) {
      LeafMask& own = masks_.emplace_back(0);
      for (const Operand o : values_of(graph_, n)) own |= mask(o);
      if (!is_element_leaf(n.op)) continue;
      const auto at = std::ranges::find(leaves_, n.attribute) - leaves_.begin();
      if (at == std::ssize(leaves_)) leaves_.push_back(static_cast<std::uint32_t>(n.attribute));
      if (leaves_.size() > max_leaves) return false;
      own = LeafMask{1} << at;
    }
    return true;
  }

  /// Adds the value of a part, which something that depends on further leaves reads.
  void add(NodeId id) {
    const LeafMask own = masks_[static_cast<std::size_t>(id)];
    if (node(id).arity == 0 || own == 0 || own == all_ || std::ranges::find(added_, id) != added_.end()) return;
    const std::size_t bytes = size_of(node(id).dtype);
    const int enough = instructions_worth_storing_for_rows(bytes, RowValues::StoredOnCpu);
    const int on_gpu = instructions_worth_storing_for_rows(bytes, RowValues::StoredOnGpu);
    const int counted = cones_.instructions(id, std::max(enough, on_gpu), [](NodeId) { return false; });
    if (counted < enough) return;
    CostlyPart part{{}, bytes, counted};
    for (LeafMask left = own; left != 0; left &= left - 1)
      part.leaves.push_back(leaves_[static_cast<std::size_t>(std::countr_zero(left))]);
    parts_.push_back(std::move(part));
    added_.push_back(id);
  }

  const Graph& graph_;
  FanoutFreeCones cones_;
  std::vector<std::uint32_t> leaves_;
  std::vector<LeafMask> masks_;  // by node, of the leaves that it depends on
  LeafMask all_ = 0;
  std::vector<CostlyPart> parts_;
  std::vector<NodeId> added_;  // the nodes of the parts
};

}  // namespace

std::vector<CostlyPart> costly_parts(const Graph& graph) { return Parts(graph).found(); }

bool reads_reduced_rows(const Graph& graph) noexcept {
  const auto has_rows = [&](Operand o) {
    const Node& n = graph[o];
    return is_reduction(n.op) && (ReduceAxes::of(n.attribute).axes & 1) == 0;
  };
  return std::ranges::any_of(graph.nodes(), [&](const Node& n) {
    return n.arity > 0 && !is_reduction(n.op) && std::ranges::any_of(values_of(graph, n), has_rows);
  });
}

bool repeats(std::span<const CostlyPart> parts, std::int64_t elements, std::span<runtime::TensorImpl* const> leaves,
             RowValues rows) noexcept {
  return std::ranges::any_of(parts, [&](const CostlyPart& part) {
    if (part.instructions < instructions_worth_storing_for_rows(part.bytes, rows)) return false;
    Shape own;
    for (const std::uint32_t leaf : part.leaves)
      if (!broadcast(own, leaves[leaf]->shape)) return false;
    const bool differs_within_rows = !own.empty() && own[-1] != 1;  // what does not is computed once for each row
    return differs_within_rows && own.numel() <= elements / nominal_repeats;
  });
}

}  // namespace sinter::inline v1::jit
