#include "costly_parts.hpp"

#include <algorithm>
#include <bit>

#include "fanout_free_cones.hpp"

namespace sinter::inline v1::jit {
namespace {

using LeafMask = std::uint64_t;
constexpr std::size_t max_leaves = 64;
constexpr std::size_t max_parts = 8;  // a graph with more repeats one of these, too

// From how many elements on a kernel more is worth its launch.
constexpr std::int64_t cpu_elements = 4096;
constexpr std::int64_t gpu_elements = 1 << 20;
// What a GPU executes per element in the time of its loads and stores.
constexpr int gpu_instructions = 100;

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
      if (n.op != Op::leaf && n.op != Op::iota) continue;
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
    if (node(id).arity == 0 || own == 0 || own == all_) return;
    const int enough = instructions_worth_storing_for_rows(size_of(node(id).dtype));
    const int counted = cones_.instructions(id, std::max(enough, gpu_instructions), [](NodeId) { return false; });
    if (counted < enough) return;
    CostlyPart part{{}, counted};
    for (LeafMask left = own; left != 0; left &= left - 1)
      part.leaves.push_back(leaves_[static_cast<std::size_t>(std::countr_zero(left))]);
    parts_.push_back(std::move(part));
  }

  const Graph& graph_;
  FanoutFreeCones cones_;
  std::vector<std::uint32_t> leaves_;
  std::vector<LeafMask> masks_;  // by node, of the leaves that it depends on
  LeafMask all_ = 0;
  std::vector<CostlyPart> parts_;
};

}  // namespace

std::vector<CostlyPart> costly_parts(const Graph& graph) { return Parts(graph).found(); }

bool repeats(std::span<const CostlyPart> parts, const Shape& shape, std::span<runtime::TensorImpl* const> leaves,
             Device device) noexcept {
  const std::int64_t elements = shape.numel();
  if (elements < (device.is_cpu() ? cpu_elements : gpu_elements)) return false;
  return std::ranges::any_of(parts, [&](const CostlyPart& part) {
    if (!device.is_cpu() && part.instructions < gpu_instructions) return false;
    bool differs_within_rows = false;  // what does not is computed once for each row
    for (const std::uint32_t leaf : part.leaves) {
      const runtime::TensorImpl& t = *leaves[leaf];
      if (t.numel > elements / nominal_repeats) return false;
      differs_within_rows |= t.ndim() > 0 && t.shape[-1] != 1;
    }
    return differs_within_rows;
  });
}

}  // namespace sinter::inline v1::jit
