#include "group_kernel.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

namespace sinter::inline v1::jit {

Slot ValueSlots::operator[](NodeId id) const {
  const Node& n = groups_.node(id);
  if (is_leaf(n.op)) return leaf_slot(n);
  return {Slot::Kind::Temporary, static_cast<std::uint32_t>(temporaries_[static_cast<std::size_t>(id)])};
}

Slot ValueSlots::add(NodeId id) {
  const Slot slot = plan_.add_temporary(groups_.node(id).dtype);
  temporaries_[static_cast<std::size_t>(id)] = static_cast<int>(slot.number);
  return slot;
}

namespace {

class GroupKernel {
 public:
  GroupKernel(const RowGroups& groups, std::size_t g, ValueSlots& slots)
      : groups_(groups),
        slots_(slots),
        g_(g),
        group_(groups[g]),
        backward_slice_(groups.backward_slice(groups.roots(g), static_cast<int>(g))),
        fits_(groups.fits(backward_slice_, g)) {
    kernel_.rows = Rows{group_.axes, {}, {}};
    for (const Space space : {in_domain, in_rows}) {
      built_[space].resize(backward_slice_.needed.size());
      wanted_[space].resize(backward_slice_.needed.size());
    }
    find_wanted();
  }

  Kernel build() {
    for (const NodeId id : backward_slice_.needed)
      for (const Space space : {in_domain, in_rows})
        if (wanted(space, id)) built(space, id) = value(id, space);
    for (const std::size_t output : group_.outputs) {
      const NodeId id = groups_.output(output);
      store(id, axis_mapping_of(id), {Slot::Kind::Output, static_cast<std::uint32_t>(output)});
    }
    for (const NodeId id : backward_slice_.needed) {
      if (!groups_.is_stored(id) || groups_.owner(id) != static_cast<int>(g_)) continue;
      store(id, stored_axis_mapping(id), slots_.add(id));
    }
    kernel_.rows->axis_mapping.insert(kernel_.rows->axis_mapping.end(), input_indexing_.begin(), input_indexing_.end());
    for (const NodeId r : group_.reductions) add_domain_input(groups_.operand(r));
    for (std::size_t i = 0; i < kernel_.inputs.size(); ++i)
      if (kernel_.inputs[i].kind == Slot::Kind::Array)
        kernel_.arrays.push_back(static_cast<std::uint32_t>(kernel_.outputs.size() + i));
    kernel_.name = kernel_name(kernel_.graph);
    return std::move(kernel_);
  }

 private:
  enum Space { in_domain, in_rows };
  Operand& built(Space space, NodeId id) { return built_[space][backward_slice_.place(id)]; }

  std::vector<bool>::reference wanted(Space space, NodeId id) { return wanted_[space][backward_slice_.place(id)]; }

  bool is_own(NodeId id) const { return groups_.group_of(id) == static_cast<int>(g_); }

  AxisMapping stored_axis_mapping(NodeId id) const {
    if (!is_own(id)) return axis_mapping_of(id);
    return ReduceAxes::of(groups_.node(id).attribute).keeps ? AxisMapping::Kept : AxisMapping::Rows;
  }
  AxisMapping axis_mapping_of(NodeId output) const {
    return *groups_.axis_mapping_of(output, fits_[backward_slice_.place(output)], g_);
  }
  static Space space_of(AxisMapping axis_mapping) { return axis_mapping == AxisMapping::Rows ? in_rows : in_domain; }

  /// Marks in which space each value is read: over the domain, or over rows only.
  void find_wanted() {
    for (const std::size_t output : group_.outputs) {
      const NodeId id = groups_.output(output);
      wanted(space_of(axis_mapping_of(id)), id) = true;
    }
    for (const NodeId id : group_.reductions) wanted(in_domain, id) = true;
    for (const NodeId id : backward_slice_.needed)
      if (groups_.is_stored(id) && !is_own(id) && groups_.owner(id) == static_cast<int>(g_))
        wanted(space_of(axis_mapping_of(id)), id) = true;
    for (const NodeId id : backward_slice_.needed | std::views::reverse)
      for (const Space space : {in_domain, in_rows})
        if (wanted(space, id) && (is_own(id) || !groups_.is_boundary(id, static_cast<int>(g_))))
          want_operands(id, space);
  }
  void want_operands(NodeId id, Space space) {
    for (const Operand o : groups_.values_of(id)) wanted(is_own(id) ? in_domain : space, o.node) = true;
  }

  Operand value(NodeId id, Space space) {
    const Node& n = groups_.node(id);
    if (is_own(id)) return built(in_domain, id) = reduction(id);
    if (n.op == Op::array) return input(id, AxisMapping::Kept);
    if (is_element_leaf(n.op) || groups_.is_boundary(id, static_cast<int>(g_)))
      return input(id, space == in_rows                       ? AxisMapping::Rows
                       : group_.is_per_row(groups_.shape(id)) ? AxisMapping::Kept
                                                              : AxisMapping::Domain);
    std::vector<Operand> operands;
    for (const Operand o : groups_.values_of(id)) operands.push_back(built(space, o.node));
    if (n.op == Op::broadcast_like) return operands[0];
    return kernel_.graph.node(n.op, n.dtype, operands, lasting_attribute(n));
  }

  Operand input(NodeId id, AxisMapping axis_mapping) {
    const Node& n = groups_.node(id);
    kernel_.inputs.push_back(slots_[id]);
    input_indexing_.push_back(axis_mapping);
    return kernel_.graph.node(is_leaf(n.op) ? n.op : Op::leaf, n.dtype, {}, kernel_.inputs.size() - 1);
  }

  /// The kernel's node for a reduction; reductions that differ only in keepdim share one.
  Operand reduction(NodeId id) {
    const Node& n = groups_.node(id);
    const Operand from = n.op == Op::count ? number_of_elements() : built(in_domain, groups_.operand(id));
    const auto [place, is_new] = reductions_.try_emplace({n.op, from.node});
    if (is_new) place->second = kernel_.graph.node(n.op, n.dtype, {&from, 1}, n.attribute);
    return place->second;
  }
  /// A placeholder operand for Op::count, which follows from the shape and reads nothing.
  Operand number_of_elements() {
    if (nothing_.node < 0) nothing_ = kernel_.graph.constant(DType::Int64, 0);
    return nothing_;
  }

  void store(NodeId id, AxisMapping axis_mapping, Slot slot) {
    kernel_.graph.output(is_own(id) ? built(in_domain, id) : built(space_of(axis_mapping), id));
    kernel_.outputs.push_back(slot);
    kernel_.rows->axis_mapping.push_back(axis_mapping);
  }

  /// Lists the tensors that determine a value's shape and are not already inputs.
  void add_domain_input(NodeId value) {
    for (const NodeId id : groups_.shape_sources(value, static_cast<int>(g_))) {
      const Slot slot = slots_[id];
      const auto read = std::ranges::find(kernel_.inputs, slot) - kernel_.inputs.begin();
      const bool is_read =
          read < std::ssize(kernel_.inputs) && input_indexing_[static_cast<std::size_t>(read)] != AxisMapping::Rows;
      if (!is_read && std::ranges::find(kernel_.rows->domain, slot) == kernel_.rows->domain.end())
        kernel_.rows->domain.push_back(slot);
    }
  }

  const RowGroups& groups_;
  ValueSlots& slots_;
  const std::size_t g_;
  const RowGroup& group_;
  const BackwardSlice backward_slice_;
  const std::vector<Fit> fits_;
  Kernel kernel_;
  std::vector<AxisMapping> input_indexing_;
  std::vector<Operand> built_[2];  // by space, then by position in the backward slice
  std::vector<bool> wanted_[2];
  std::map<std::pair<Op, NodeId>, Operand> reductions_;
  Operand nothing_;
};

}  // namespace

Kernel group_kernel(const RowGroups& groups, std::size_t g, ValueSlots& slots) {
  return GroupKernel(groups, g, slots).build();
}

}  // namespace sinter::inline v1::jit
