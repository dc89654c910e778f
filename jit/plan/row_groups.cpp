#include "row_groups.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <ranges>
#include <utility>

#include "../infer/shapes.hpp"
#include "cost_model.hpp"
#include "costly_values.hpp"

namespace sinter::inline v1::jit {
namespace {

/// The number of most recent groups that a reduction or an output is tried with: trying all would take quadratic time.
constexpr std::size_t max_tried = 64;

void merge(GroupSet& into, const GroupSet& from) {
  if (from.empty()) return;
  if (into.size() < from.size()) into.resize(from.size());
  if (into.size() == from.size()) {
    into |= from;
    return;
  }
  GroupSet wider = from;
  wider.resize(into.size());
  into |= wider;
}
void add(GroupSet& into, std::size_t g) {
  if (into.size() <= g) into.resize(g + 1);
  into.set(g);
}
bool has(const GroupSet& set, std::size_t g) { return g < set.size() && set[g]; }

/// The union of two ascending lists.
std::vector<NodeId> merged(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
  std::vector<NodeId> both;
  std::ranges::set_union(a, b, std::back_inserter(both));
  return both;
}

bool fits_in(const Shape& shape, const Shape& whole) {
  Shape merged = shape;
  return broadcast(merged, whole) && merged == whole;
}

}  // namespace

bool RowGroup::is_leading() const {
  const int ndim = domain.ndim();
  int axis = ndim - 1;
  while (axis >= 0 && axes >> axis & 1) --axis;
  return (axes & ((1 << (axis + 1)) - 1)) == 0;
}

bool RowGroup::is_per_row(const Shape& shape) const {
  bool whole = false;
  for (int from_end = 0; from_end < domain.ndim(); ++from_end) {
    if (!(axes >> from_end & 1) || domain[-1 - from_end] == 1) continue;
    whole = true;
    if (from_end < shape.ndim() && shape[-1 - from_end] != 1) return false;
  }
  return whole;
}

std::size_t BackwardSlice::place(NodeId id) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(needed, id) - needed.begin());
}

RowGroups::RowGroups(const Graph& graph, std::span<const Shape> leaves, RowValues rows)
    : graph_(graph), shapes_(shapes_of(graph, leaves)), nodes_(graph.nodes().size()) {
  for (NodeId id = 0; id < count(); ++id) is_reduction(node(id).op) ? add_reduction(id) : join_groups(id);
  find_readers();
  for (std::size_t i = 0; i < graph_.outputs().size(); ++i) place_output(i);
  materialize_costly_values(rows);
  find_stored();
}

void RowGroups::join_groups(NodeId id) {
  NodeState& s = state(id);
  int made_in = no_group;
  bool alone = node(id).op != Op::broadcast_like;
  for (const Operand o : graph_.operands(node(id))) {
    merge(s.after, state(o.node).after);
    if (node(o.node).op == Op::scalar || node(o.node).op == Op::constant) continue;
    alone &= owner(o.node) >= 0 && (made_in < 0 || made_in == owner(o.node)) && shape(o.node) == shape(id);
    made_in = owner(o.node);
  }
  if (!alone || made_in < 0) return;
  s.made_in = made_in;
  groups_[static_cast<std::size_t>(made_in)].made.push_back(id);
}

bool RowGroups::depends_on(NodeId id, int group) const {
  return group >= 0 && has(state(id).after, static_cast<std::size_t>(group));
}

BackwardSlice RowGroups::backward_slice(std::span<const NodeId> roots, int group, bool computes) const {
  BackwardSlice c;
  gather(c, roots, group, computes, std::numeric_limits<int>::max());
  return c;
}

std::optional<BackwardSlice> RowGroups::small_backward_slice(NodeId root, int group) const {
  BackwardSlice c;
  if (!gather(c, {&root, 1}, group, false, max_weight)) return std::nullopt;
  return c;
}

/// Returns false if the backward slice weighs more than `most`.
bool RowGroups::gather(BackwardSlice& c, std::span<const NodeId> roots, int group, bool computes, int most) const {
  seen_.clear();
  const auto need = [&](NodeId id) {
    if (seen_.add(id)) c.needed.push_back(id);
  };
  std::ranges::for_each(roots, need);
  const std::size_t own = computes ? c.needed.size() : 0;
  for (std::size_t i = 0; i < c.needed.size() && c.weight <= most; ++i) {
    const NodeId id = c.needed[i];
    const Node& n = node(id);
    if (i >= own && is_boundary(id, group)) {
      ++c.inputs;
      continue;
    }
    c.inputs += is_leaf(n.op);
    c.weight += n.arity == 0 ? 0 : jit::weight(n.op);
    for (const Operand o : values_of(id)) need(o.node);
  }
  std::ranges::sort(c.needed);
  return c.weight <= most;
}

/// The tensors and boundaries in the backward slice that a kernel of the group reads, ascending.
std::vector<NodeId> RowGroups::inputs_of(const BackwardSlice& c, int group) const {
  std::vector<NodeId> found;
  for (const NodeId id : c.needed)
    if (is_leaf(node(id).op) || is_boundary(id, group)) found.push_back(id);
  return found;
}

std::vector<Fit> RowGroups::fits(const BackwardSlice& c, std::size_t g) const {
  const RowGroup& group = groups_[g];
  const Shape row_shape = group.rows();
  std::vector<Fit> found(c.needed.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const NodeId id = c.needed[i];
    const Node& n = node(id);
    Fit& f = found[i];
    f = {fits_in(shape(id), group.domain), fits_in(shape(id), row_shape), false};
    if (group_of(id) == static_cast<int>(g)) {
      const bool keeps = ReduceAxes::of(n.attribute).keeps;
      f.domain &= keeps || group.is_leading();
      f.rows &= !keeps || shape(id).empty();
    } else if (is_boundary(id, static_cast<int>(g)) || is_element_leaf(n.op)) {
      f.element = !group.is_per_row(shape(id));
    } else {
      for (const Operand o : values_of(id)) {
        if (node(o.node).op == Op::array) continue;
        const Fit& of = found[c.place(o.node)];
        f = {f.domain && of.domain, f.rows && of.rows, f.element || of.element};
      }
    }
  }
  return found;
}

/// Whether group g may run after all of `others` without a cycle.
bool RowGroups::may_follow(std::size_t g, const GroupSet& others) const {
  for (std::size_t d = others.find_first(); d != GroupSet::npos; d = others.find_next(d))
    if (d != g && has(groups_[d].after, g)) return false;
  return true;
}

void RowGroups::follow(std::size_t g, const GroupSet& others) {
  std::vector<std::size_t> direct;
  for (std::size_t d = others.find_first(); d != GroupSet::npos; d = others.find_next(d)) direct.push_back(d);
  GroupSet& after = groups_[g].after;
  bool waits = false;
  for (const std::size_t d : direct | std::views::reverse) {  // a later group usually already follows the earlier ones
    if (d == g || has(after, d)) continue;
    add(after, d);
    merge(after, groups_[d].after);
    groups_[d].is_followed = waits = true;
  }
  if (!waits || !groups_[g].is_followed) return;
  for (RowGroup& later : groups_)
    if (has(later.after, g)) merge(later.after, groups_[g].after);
}

void RowGroups::add_reduction(NodeId id) {
  const NodeId from = operand(id);
  std::optional<BackwardSlice> needs = small_backward_slice(from, no_group);
  if (!needs || needs->inputs > max_row_inputs) materialize(from), needs = small_backward_slice(from, no_group);
  const std::vector<NodeId> inputs = inputs_of(*needs, no_group);
  const std::size_t g = group_for(id, *needs, inputs);
  RowGroup& group = groups_[g];
  group.reductions.push_back(id);
  group.weight += node(id).op == Op::count ? 0 : needs->weight;
  group.inputs = merged(group.inputs, inputs);
  follow(g, state(from).after);
  state(id).group = static_cast<int>(g);
  add(state(id).after, g);
}

/// The oldest recent group that the reduction can join, or a new one.
std::size_t RowGroups::group_for(NodeId id, const BackwardSlice& needs, const std::vector<NodeId>& inputs) {
  const NodeId from = operand(id);
  const int ndim = shape(from).ndim();
  const auto axes = static_cast<std::uint8_t>(ReduceAxes::of(node(id).attribute).axes & ((1 << ndim) - 1));
  std::vector<std::int64_t> key{axes};
  key.insert(key.end(), shape(from).begin(), shape(from).end());
  std::vector<std::size_t>& alike = alike_[key];
  for (std::size_t i = alike.size() - std::min(alike.size(), max_tried); i < alike.size(); ++i)
    if (joins(alike[i], from, state(from).after, needs, inputs)) return alike[i];
  alike.push_back(groups_.size());
  groups_.push_back({.domain = shape(from), .axes = axes});
  return alike.back();
}

bool RowGroups::joins(std::size_t g, NodeId from, const GroupSet& after, const BackwardSlice& needs,
                      const std::vector<NodeId>& inputs) const {
  const RowGroup& group = groups_[g];
  if (group.weight + needs.weight > max_weight || group.reductions.size() >= max_row_reductions) return false;
  if (!may_follow(g, after) || (state(from).materialized && has(after, g))) return false;
  if (merged(group.inputs, inputs).size() > max_row_inputs) return false;
  const std::optional<BackwardSlice> c = small_backward_slice(from, static_cast<int>(g));
  return c && group.weight + c->weight <= max_weight && fits(*c, g)[c->place(from)].domain;
}

void RowGroups::materialize(NodeId id) {
  if (node(id).arity == 0) return;
  state(id).materialized = state(id).stored = true;
}

void RowGroups::materialize_costly_values(RowValues rows) {
  for (const NodeId id : CostlyValues(*this, rows).find()) materialize(id);
}

/// Finds the groups that read a leaf with their domain's shape.
void RowGroups::find_readers() {
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (const NodeId id : backward_slice(groups_[g].reductions, static_cast<int>(g)).needed)
      if (node(id).op == Op::leaf && shape(id) == groups_[g].domain) readers_[id].push_back(g);
}

/// Candidate groups for computing an output, ascending: those on whose results it depends; else those that read, in
/// their whole domain, a tensor that the output reads as well.
std::vector<std::size_t> RowGroups::groups_for(NodeId output) const {
  const GroupSet& after = state(output).after;
  std::vector<std::size_t> found;
  if (after.any()) {
    for (std::size_t g = after.find_first(); g != GroupSet::npos; g = after.find_next(g)) found.push_back(g);
    return found;
  }
  const std::optional<BackwardSlice> c = small_backward_slice(output, no_group);
  if (!c) return found;
  for (const NodeId id : c->needed)
    if (const auto read = readers_.find(id); read != readers_.end() && shape(id) == shape(output))
      found.insert(found.end(), read->second.begin(), read->second.end());
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

/// Assigns an output to a group's kernel if one can compute it; otherwise an elementwise kernel computes it at the end.
void RowGroups::place_output(std::size_t number) {
  const std::vector<std::size_t> groups = groups_for(output(number));
  const std::size_t tried = std::min(groups.size(), max_tried);
  for (std::size_t i = 1; i <= tried; ++i)
    if (place_output_in(groups[groups.size() - i], number)) return;
  rest_.push_back(number);
}

bool RowGroups::place_output_in(std::size_t g, std::size_t number) {
  const NodeId id = output(number);
  if (!may_follow(g, state(id).after)) return false;
  const std::optional<BackwardSlice> c = small_backward_slice(id, static_cast<int>(g));
  if (!c || c->inputs > max_row_inputs || !axis_mapping_of(id, fits(*c, g)[c->place(id)], g)) return false;
  groups_[g].outputs.push_back(number);
  follow(g, state(id).after);
  return true;
}

std::optional<AxisMapping> RowGroups::axis_mapping_of(NodeId id, const Fit& f, std::size_t g) const {
  const RowGroup& group = groups_[g];
  if (f.domain && f.element && shape(id) == group.domain) return AxisMapping::Domain;
  if (f.domain && !f.element && shape(id) == group.kept()) return AxisMapping::Kept;
  if (f.rows && shape(id) == group.rows()) return AxisMapping::Rows;
  return std::nullopt;
}

std::vector<NodeId> RowGroups::roots(std::size_t g) const {
  std::vector<NodeId> found = groups_[g].reductions;
  for (const std::size_t number : groups_[g].outputs) found.push_back(output(number));
  for (const NodeId id : groups_[g].made)
    if (state(id).stored) found.push_back(id);
  return found;
}

/// Marks the results that kernels other than their own read.
void RowGroups::find_stored() {
  const auto mark = [&](const BackwardSlice& c, int group) {
    for (const NodeId id : c.needed)
      if (owner(id) >= 0 && owner(id) != group) state(id).stored = true;
  };
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    mark(backward_slice(roots(g), static_cast<int>(g)), static_cast<int>(g));
    for (const NodeId r : groups_[g].reductions) mark_shape_sources(operand(r), static_cast<int>(g));
  }
  // An elementwise kernel must read the tensors that determine its values' shapes.
  const auto mark_elementwise = [&](const BackwardSlice& c) {
    mark(c, no_group);
    for (const NodeId id : c.needed)
      if (node(id).op == Op::broadcast_like && shape(operand(id)) != shape(id))
        mark_shape_sources(graph_.operands(node(id))[1].node, no_group);
  };
  for (NodeId id = 0; id < count(); ++id)
    if (state(id).materialized) mark_elementwise(backward_slice({&id, 1}, no_group, true));
  std::vector<NodeId> rest;
  for (const std::size_t number : rest_) rest.push_back(output(number));
  mark_elementwise(backward_slice(rest, no_group));
}

std::vector<NodeId> RowGroups::shape_sources(NodeId value, int group) const {
  std::vector<NodeId> found =
      jit::shape_sources(graph_, value, seen_, [&](NodeId id) { return is_boundary(id, group) || owner(id) >= 0; });
  std::erase_if(found, [&](NodeId id) { return owner(id) >= 0 && owner(id) == group; });
  return found;
}

void RowGroups::mark_shape_sources(NodeId value, int group) {
  for (const NodeId id : shape_sources(value, group)) state(id).stored |= owner(id) >= 0;
}

}  // namespace sinter::inline v1::jit
