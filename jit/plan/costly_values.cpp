#include "costly_values.hpp"

#include <algorithm>
#include <limits>

#include "row_stages.hpp"

namespace sinter::inline v1::jit {
namespace {

constexpr int no_group = RowGroups::no_group;
constexpr std::size_t max_places = 64;  // that a value's cost depends on: all would take quadratic time

}  // namespace

CostlyValues::CostlyValues(const RowGroups& groups, RowValues rows)
    : groups_(groups), rows_(rows), cones_(groups.graph()), places_(static_cast<std::size_t>(groups.count())) {
  for (std::size_t g = 0; g < groups.size(); ++g) inputs_.push_back(groups[g].inputs.size());
}

std::vector<NodeId> CostlyValues::find() {
  place_outputs();
  for (NodeId id = groups_.count(); id-- > 0;) {
    if (is_candidate(id) && is_costly(id)) materialize(id);
    place_operands(id);
  }
  return std::move(found_);
}

void CostlyValues::place_outputs() {
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (const std::size_t number : groups_[g].outputs) place(groups_.output(number), {static_cast<int>(g), 0});
  for (const std::size_t number : groups_.rest()) {
    const auto same_shape = [&](std::size_t other) {
      return groups_.shape(groups_.output(other)) == groups_.shape(groups_.output(number));
    };
    const std::size_t first = *std::ranges::find_if(groups_.rest(), same_shape);
    place(groups_.output(number), {no_group, groups_.output(first)});
  }
}

void CostlyValues::place_operands(NodeId id) {
  const Node& n = groups_.node(id);
  auto& places = places_[static_cast<std::size_t>(id)];
  if (combines(n))
    places = {{groups_.group_of(id), 0}};
  else if (groups_.is_materialized(id))
    places = {{no_group, id}};
  for (const Operand o : groups_.values_of(id))
    for (const Place& in : places) place(o.node, in);
}

void CostlyValues::place(NodeId id, const Place& in) {
  if (groups_.node(id).arity == 0 || (groups_.owner(id) >= 0 && groups_.owner(id) != in.group) ||
      is_computed_once_per_row(id, in))
    return;
  auto& places = places_[static_cast<std::size_t>(id)];
  const auto at = std::ranges::lower_bound(places, in);
  if (places.size() < max_places && (at == places.end() || *at != in)) places.insert(at, in);
}

const Shape& CostlyValues::domain(const Place& of) const {
  return of.group >= 0 ? groups_[static_cast<std::size_t>(of.group)].domain : groups_.shape(of.number);
}

bool CostlyValues::is_computed_once_per_row(NodeId id, const Place& in) const {
  const Shape& shape = groups_.shape(id);
  if (in.group >= 0) return groups_[static_cast<std::size_t>(in.group)].is_per_row(shape);
  return shape.empty() || (shape[-1] == 1 && domain(in)[-1] != 1);
}

bool CostlyValues::is_candidate(NodeId id) const {
  const Op op = groups_.node(id).op;
  return groups_.node(id).arity > 0 && !is_reduction(op) && op != Op::broadcast_like && groups_.owner(id) < 0 &&
         !groups_.is_materialized(id);
}

bool CostlyValues::is_costly(NodeId id) {
  Shared value{.computations = 0, .readers = 0, .bytes = size_of(groups_.node(id).dtype)};
  for (const Place& in : places_[static_cast<std::size_t>(id)]) {
    if (groups_.depends_on(id, in.group)) continue;
    if (in.group >= 0 && inputs_[static_cast<std::size_t>(in.group)] >= max_row_inputs) return false;
    value.computations += groups_.shape(id).numel() == domain(in).numel() ? 1 : nominal_repeats;
    ++value.readers;
  }
  const bool is_broadcast = groups_.size() == 0 && value.computations == nominal_repeats * value.readers;
  int enough = is_broadcast ? std::numeric_limits<int>::max() : instructions_worth_storing(value);
  if (value.computations > value.readers)  // some compute it for many rows
    enough = std::min(enough, instructions_worth_storing_for_rows(value.bytes, rows_));
  const auto stops = [&](NodeId from) { return groups_.owner(from) >= 0 || groups_.is_materialized(from); };
  return value.computations > 1 && cones_.instructions(id, enough, stops) >= enough;
}

/// Groups that must run before the value can be computed go on computing what they need of it.
void CostlyValues::materialize(NodeId id) {
  auto& places = places_[static_cast<std::size_t>(id)];
  for (const Place& in : places)
    if (in.group >= 0 && !groups_.depends_on(id, in.group)) ++inputs_[static_cast<std::size_t>(in.group)];
  const auto reads_it = [&](const Place& in) { return !groups_.depends_on(id, in.group); };
  places.erase(std::remove_if(places.begin(), places.end(), reads_it), places.end());
  places.insert(places.begin(), {no_group, id});
  found_.push_back(id);
}

}  // namespace sinter::inline v1::jit
