#include "costly_parts.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "cost_model.hpp"
#include "fanout_free_cones.hpp"

namespace sinter::inline v1::jit {
namespace {

/// Whether the result of a reduction differs along the last axis, so that it may be a row that later operations repeat.
bool gives_rows(const Node& n) noexcept {
  if (!is_reduction(n.op)) return false;
  const ReduceAxes along = ReduceAxes::of(n.attribute);
  return along.axes != ReduceAxes::all_axes && (!along.keeps || (along.axes & 1) == 0);
}

using LeafMask = std::uint64_t;
constexpr std::uint32_t of_reduction = std::numeric_limits<std::uint32_t>::max();  // instead of a leaf's number
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

  /// Finds the leaves that each value depends on, and the reductions that give rows. False if there are too many.
  bool number_leaves() {
    for (const Node& n : graph_.nodes()) {
      LeafMask& own = masks_.emplace_back(0);
      for (const Operand o : values_of(graph_, n)) own |= mask(o);
      if (!is_element_leaf(n.op) && !gives_rows(n)) continue;
      const std::uint32_t leaf = gives_rows(n) ? of_reduction : static_cast<std::uint32_t>(n.attribute);
      const auto known = leaf == of_reduction ? leaves_.end() : std::ranges::find(leaves_, leaf);
      const auto at = known - leaves_.begin();
      if (known == leaves_.end()) leaves_.push_back(leaf);
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
    for (LeafMask left = own; left != 0; left &= left - 1) {
      const std::uint32_t leaf = leaves_[static_cast<std::size_t>(std::countr_zero(left))];
      part.follows_reduction |= leaf == of_reduction;
      if (leaf != of_reduction) part.leaves.push_back(leaf);
    }
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

bool repeats(std::span<const CostlyPart> parts, std::int64_t elements, std::span<runtime::TensorImpl* const> leaves,
             RowValues rows) noexcept {
  return std::ranges::any_of(parts, [&](const CostlyPart& part) {
    if (part.instructions < instructions_worth_storing_for_rows(part.bytes, rows)) return false;
    if (part.follows_reduction) return true;  // only the plan knows its shape
    Shape own;
    for (const std::uint32_t leaf : part.leaves)
      if (!broadcast(own, leaves[leaf]->shape)) return false;
    const bool differs_within_rows = !own.empty() && own[-1] != 1;  // what does not is computed once for each row
    return differs_within_rows && own.numel() <= elements / nominal_repeats;
  });
}

}  // namespace sinter::inline v1::jit
