#include "row_parts.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "../plan/cost_model.hpp"
#include "../plan/fanout_free_cones.hpp"
#include "cost.hpp"
#include "row_picks.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

using Id = std::size_t;

std::uint8_t dtype_number(DType dtype) {
  switch (dtype) {
    case DType::Bool: return static_cast<std::uint8_t>(Group::Bool);
    case DType::Int32: return static_cast<std::uint8_t>(Group::Int32);
    case DType::Int64: return static_cast<std::uint8_t>(Group::Int64);
    case DType::Float32: return static_cast<std::uint8_t>(Group::Float32);
    case DType::Float16: return static_cast<std::uint8_t>(Group::Float64) + 1;
    case DType::BFloat16: return static_cast<std::uint8_t>(Group::Float64) + 2;
    default: return static_cast<std::uint8_t>(Group::Float64);
  }
}
static_assert(static_cast<int>(Group::Float64) + 3 == reduce_dtypes);
static_assert(static_cast<int>(Op::argmin) - static_cast<int>(Op::sum) + 1 == reduction_count);

constexpr std::int32_t nothing = -1;

class RowPartsBuilder {
 public:
  RowPartsBuilder(const Kernel& kernel, Keeps keeps, RowParts& to)
      : kernel_(kernel), graph_(kernel.graph), stages_(kernel), keeps_(keeps), to_(to) {}

  void run() {
    const std::size_t count = graph_.nodes().size();
    row_of_.assign(count, nothing);
    tile_of_.assign(count, nothing);
    kept_after_.assign(count, 0);
    kept_.assign(count, false);
    prefetched_.assign(count, false);
    to_.stages.resize(static_cast<std::size_t>(stages_.count) + 1);
    find_single();
    find_reductions();
    find_kept();
    find_row_values();
    for (int s = 0; s <= stages_.count; ++s) {
      add_rows(s);
      add_pass(s);
    }
    add_outputs();
    measure();
  }

 private:
  bool over_domain(std::size_t output) const { return is_element_output(kernel_, output); }
  std::uint32_t operand_of(const Node& n) const {
    return static_cast<std::uint32_t>(kernel_.outputs.size() + n.attribute);
  }
  Id id_of(Operand o) const { return static_cast<Id>(o.node); }
  std::uint32_t new_row(DType dtype) {
    to_.row_sizes.push_back(static_cast<std::uint8_t>(size_of(dtype)));
    return static_cast<std::uint32_t>(to_.row_sizes.size() - 1);
  }

  /// Values that depend only on scalars are computed wherever they are read.
  void find_single() {
    for (const Node& n : graph_.nodes())
      single_.push_back(n.op == Op::count ||
                        (!is_leaf(n.op) && !is_reduction(n.op) &&
                         std::ranges::all_of(graph_.operands(n), [&](Operand o) { return single_[id_of(o)]; })));
  }

  void find_reductions() {
    for (Id id = 0; id < graph_.nodes().size(); ++id) {
      const Node& n = graph_.nodes()[id];
      if (!combines(n)) continue;
      const int stage = stages_.stage_of(Operand{static_cast<NodeId>(id), 0});
      row_of_[id] = static_cast<std::int32_t>(new_row(n.dtype));
      if (const auto picked = picked_element(kernel_, stages_, n); picked && !single_[id_of(picked->position)]) {
        add_pick(*picked, static_cast<std::uint32_t>(row_of_[id]), stage);
        continue;
      }
      const Operand of = in_memory(graph_, graph_.operands(n)[0]);
      const Node& elements = graph_[of];
      RowReduction r{static_cast<std::uint8_t>(static_cast<int>(n.op) - static_cast<int>(Op::sum)),
                     dtype_number(elements.dtype), tile_for(of, stage), std::nullopt,
                     static_cast<std::uint32_t>(row_of_[id])};
      if (elements.op == Op::leaf) r.leaf = operand_of(elements);
      to_.stages[static_cast<std::size_t>(stage)].reductions.push_back(r);
    }
  }

  void add_pick(const PickedElement& picked, std::uint32_t result, int stage) {
    const Node& position = graph_[picked.position];
    std::int32_t& row = row_of_[id_of(picked.position)];
    if (row == nothing) row = static_cast<std::int32_t>(new_row(position.dtype));
    to_.stages[static_cast<std::size_t>(stage)].picks.push_back(
        {operand_of(graph_[picked.element]), operand_of(graph_[picked.column]), graph_[picked.element].dtype,
         position.dtype == DType::Int32, static_cast<std::uint32_t>(row), result});
  }

  /// The tile of a reduction's operand; leaves that are not read in place are copied to one.
  std::uint32_t tile_for(Operand of, int stage) {
    const std::int32_t& tile = tile_of_[id_of(of)];
    if (tile != nothing) return static_cast<std::uint32_t>(tile);
    add_tile(id_of(of), stage);
    if (graph_[of].op == Op::leaf) {
      to_.copy_of.back() = static_cast<std::int32_t>(to_.copies.size());
      to_.copies.push_back(make_part({of}, {tile_place(of)}, 0, false));
    }
    return static_cast<std::uint32_t>(tile);
  }
  void add_tile(Id id, int stage) {
    tile_of_[id] = static_cast<std::int32_t>(to_.tile_sizes.size());
    kept_after_[id] = stage + 1;
    to_.tile_sizes.push_back(static_cast<std::uint8_t>(size_of(graph_.nodes()[id].dtype)));
    to_.tile_spans.push_back(false);
    to_.copy_of.push_back(nothing);
  }

  /// Finds the values that later passes read instead of recomputing them, and gives them tiles. Readers come first: of
  /// a chain only the end is kept.
  void find_kept() {
    FanoutFreeCones cones(graph_);
    std::vector<std::uint64_t> passes(graph_.nodes().size());  // by node, the bits of the stages that compute it
    for (std::size_t k = 0; k < kernel_.outputs.size(); ++k)
      if (over_domain(k)) passes[id_of(graph_.outputs()[k])] |= bit_of(output_stage());
    for (Id id = graph_.nodes().size(); id-- > 0;) {
      if (!is_element(id)) continue;
      if (tile_of_[id] != nothing) passes[id] |= bit_of(kept_after_[id] - 1);
      if (is_kept(id, std::popcount(passes[id]), cones)) keep(id, passes[id]);
      for (const Operand o : graph_.operands(graph_.nodes()[id])) passes[id_of(o)] |= passes[id];
    }
  }
  /// Late stages share the last bit, so what only they compute counts as computed once and is not kept.
  static std::uint64_t bit_of(int stage) { return std::uint64_t{1} << std::min(stage, 63); }
  /// Whether passes compute the value, for each element of their rows.
  bool is_element(Id id) const {
    return !is_leaf(graph_.nodes()[id].op) && !single_[id] && !stages_.is_per_row({static_cast<NodeId>(id), 0});
  }
  bool is_kept(Id id, int passes, FanoutFreeCones& cones) const {
    if (passes < 2 || keeps_ == Keeps::Nowhere) return false;
    if (keeps_ == Keeps::InBoxes && tile_of_[id] != nothing) return true;
    const Shared value{.computations = passes, .readers = passes - 1, .bytes = size_of(graph_.nodes()[id].dtype)};
    const int enough = instructions_worth_keeping(value, keeps_ != Keeps::InSpans);
    const auto stops = [&](NodeId from) { return !is_element(static_cast<Id>(from)); };
    return cones.instructions(static_cast<NodeId>(id), enough, stops) >= enough;
  }
  void keep(Id id, std::uint64_t& passes) {
    const int first = std::countr_zero(passes);
    if (tile_of_[id] == nothing) {
      add_tile(id, first);
      to_.kept_bytes += to_.tile_sizes.back();
    }
    if (keeps_ != Keeps::InBoxes) {
      to_.tile_spans[static_cast<std::size_t>(tile_of_[id])] = true;
      to_.span_bytes += to_.tile_sizes[static_cast<std::size_t>(tile_of_[id])];
    }
    passes = bit_of(first);
    kept_[id] = true;
  }

  OperandSource tile_place(Operand o) const {
    return {OperandSource::Kind::Tile, static_cast<std::uint32_t>(tile_of_[id_of(o)]),
            static_cast<std::uint8_t>(size_of(graph_[o].dtype))};
  }

  /// Per-row values that elements read are computed once per row.
  void find_row_values() {
    std::vector<bool> crosses(graph_.nodes().size());
    const auto read_by_elements = [&](Operand o) {
      const Node& n = graph_[o];
      if (stages_.is_per_row(o) && !single_[id_of(o)] && !is_leaf(n.op) && !combines(n)) crosses[id_of(o)] = true;
    };
    for (Id id = 0; id < graph_.nodes().size(); ++id) {
      const Node& n = graph_.nodes()[id];
      if (n.op == Op::count || (stages_.is_per_row(Operand{static_cast<NodeId>(id), 0}) && !combines(n))) continue;
      for (const Operand o : graph_.operands(n)) read_by_elements(o);
    }
    for (std::size_t k = 0; k < kernel_.outputs.size(); ++k)
      if (over_domain(k)) read_by_elements(graph_.outputs()[k]);
    for (Id id = 0; id < crosses.size(); ++id)
      if (crosses[id] && row_of_[id] == nothing)
        row_of_[id] = static_cast<std::int32_t>(new_row(graph_.nodes()[id].dtype));
  }

  void add_rows(int stage) {
    std::vector<Operand> wanted;
    std::vector<OperandSource> places;
    for (Id id = 0; id < graph_.nodes().size(); ++id) {
      const Operand o{static_cast<NodeId>(id), 0};
      if (row_of_[id] == nothing || combines(graph_.nodes()[id]) || stages_.stage_of(o) != stage) continue;
      wanted.push_back(o);
      places.push_back(row_place(id));
    }
    if (!wanted.empty())
      to_.stages[static_cast<std::size_t>(stage)].rows.emplace(make_part(wanted, places, stage, true));
  }
  OperandSource row_place(Id id) const {
    return {OperandSource::Kind::PerRow, static_cast<std::uint32_t>(row_of_[id]),
            static_cast<std::uint8_t>(size_of(graph_.nodes()[id].dtype))};
  }

  /// The stage whose pass computes elementwise outputs, if there are any.
  int output_stage() const { return stages_.count + stages_.has_final_pass - 1; }

  /// The elements that the stage's reductions, or in its stage the outputs, still need.
  void add_pass(int stage) {
    const bool writes = stage == output_stage();
    std::vector<Operand> wanted;
    std::vector<OperandSource> places;
    for (Id id = 0; id < graph_.nodes().size(); ++id) {
      if (tile_of_[id] == nothing || graph_.nodes()[id].op == Op::leaf || kept_after_[id] != stage + 1) continue;
      wanted.push_back({static_cast<NodeId>(id), 0});
      places.push_back(tile_place(wanted.back()));
    }
    for (std::size_t k = 0; k < kernel_.outputs.size() && writes; ++k) {
      if (!over_domain(k)) continue;
      const Operand o = graph_.outputs()[k];
      wanted.push_back(o);
      places.push_back({OperandSource::Kind::Operand, static_cast<std::uint32_t>(k),
                        static_cast<std::uint8_t>(size_of(graph_[o].dtype))});
    }
    Stage& to = to_.stages[static_cast<std::size_t>(stage)];
    if (wanted.empty()) return;
    std::vector<OperandSource> states;
    const std::vector<OutputReduction> reduced = fuse_reductions(to, wanted, places, states);
    to.pass.emplace(make_part(wanted, places, stage, false, reduced));
    to.pass->states = std::move(states);
  }
  static Op op_of(const RowReduction& r) { return static_cast<Op>(static_cast<int>(Op::sum) + r.op); }
  /// Those of the stage's reductions that a compiled loop can do which computes these tiles, and their states. An array
  /// that is wanted twice is copied, which loops do not.
  std::vector<OutputReduction> fuse_reductions(Stage& stage, const std::vector<Operand>& wanted,
                                               const std::vector<OperandSource>& places,
                                               std::vector<OperandSource>& states) const {
    std::vector<OutputReduction> fused;
    std::set<std::uint32_t> read;  // tiles, by other reductions
    for (std::uint32_t k = 0; k < stage.reductions.size(); ++k) {
      RowReduction& r = stage.reductions[k];
      const auto is_tile = [&](const OperandSource& p) {
        return p.kind == OperandSource::Kind::Tile && p.number == r.tile;
      };
      const auto output = static_cast<std::size_t>(std::ranges::find_if(places, is_tile) - places.begin());
      r.in_pass = !r.leaf && is_reduced_in_loops(op_of(r), graph_[wanted[output]].dtype) &&
                  std::ranges::count(wanted, wanted[output]) == 1;
      if (!r.in_pass) {
        read.insert(r.tile);
        continue;
      }
      fused.push_back({op_of(r), static_cast<std::uint32_t>(output), kept_[id_of(wanted[output])], 0});
      states.push_back({OperandSource::Kind::States, k, state_bytes(op_of(r))});
    }
    for (OutputReduction& f : fused) f.is_stored = f.is_stored || read.contains(places[f.output].number);
    return fused;
  }
  void add_outputs() {
    std::vector<Operand> wanted;
    std::vector<OperandSource> places;
    for (std::size_t k = 0; k < kernel_.outputs.size(); ++k) {
      if (over_domain(k)) continue;
      const Operand o = graph_.outputs()[k];
      wanted.push_back(o);
      places.push_back({OperandSource::Kind::Operand, static_cast<std::uint32_t>(k),
                        static_cast<std::uint8_t>(size_of(graph_[o].dtype))});
    }
    if (!wanted.empty()) to_.rows_after.emplace(make_part(wanted, places, stages_.count + 1, true));
  }

  /// Where a node's value is if it exists when a stage begins.
  std::optional<OperandSource> place_of(Id id, int stage, bool over_rows) {
    const Node& n = graph_.nodes()[id];
    const auto size = static_cast<std::uint8_t>(size_of(n.dtype));
    if (is_leaf(n.op)) return OperandSource{OperandSource::Kind::Operand, operand_of(n), size};
    if (n.op == Op::count) return OperandSource{OperandSource::Kind::Count, 0, size};
    if (row_of_[id] != nothing && (combines(n) || !over_rows || stages_.stage_of({static_cast<NodeId>(id), 0}) < stage))
      return row_place(id);
    if (over_rows || tile_of_[id] == nothing || kept_after_[id] > stage) return std::nullopt;
    to_.uses_kept = true;
    if (!kept_[id]) return std::nullopt;
    return tile_place({static_cast<NodeId>(id), 0});
  }

  /// The nodes that the wanted ones need, down to existing values. All scalars stay, so they keep their numbers.
  Part make_part(const std::vector<Operand>& wanted, std::vector<OperandSource> places, int stage, bool over_rows,
                 std::vector<OutputReduction> reductions = {}) {
    const std::size_t count = graph_.nodes().size();
    std::vector<bool> needed(count);
    std::vector<std::optional<OperandSource>> place(count);
    for (const Operand o : wanted) needed[id_of(o)] = true;
    for (Id id = count; id-- > 0;) {
      if (!needed[id]) continue;
      place[id] = place_of(id, stage, over_rows);
      if (place[id]) continue;
      for (const Operand o : graph_.operands(graph_.nodes()[id])) needed[id_of(o)] = true;
    }
    Graph part;
    FusedWork fused{std::move(reductions), {}};
    std::vector<OperandSource> prefetched;
    std::vector<Operand> made(count);
    const int outputs = static_cast<int>(wanted.size());
    for (Id id = 0; id < count; ++id) {
      const Node& n = graph_.nodes()[id];
      if (place[id]) {
        const std::size_t leaf = places.size() - wanted.size();
        if (stage > 0 && !over_rows && claim_prefetch(id)) {
          fused.prefetched.push_back(static_cast<std::uint32_t>(leaf));
          prefetched.push_back(*place[id]);
        }
        made[id] = part.node(is_leaf(n.op) ? n.op : Op::leaf, n.dtype, {}, leaf);
        places.push_back(*place[id]);
      } else if (needed[id] || n.op == Op::scalar) {
        std::vector<Operand> operands;
        for (const Operand o : graph_.operands(n)) operands.push_back(made[id_of(o)]);
        made[id] = part.node(n.op, n.dtype, operands, n.attribute);
      }
    }
    for (const Operand o : wanted) part.output(made[id_of(o)]);
    auto states = static_cast<std::uint32_t>(places.size() - wanted.size());
    for (OutputReduction& r : fused.reductions) r.operand = states++;
    return {TileProgram(part, kernel_.name, std::move(fused)), std::move(places), outputs, {}, std::move(prefetched)};
  }

  /// Whether this pass over rows that have been read before fetches the leaf's elements of the next ones: the first one
  /// that asks does.
  bool claim_prefetch(Id id) {
    const Node& n = graph_.nodes()[id];
    if (n.op != Op::leaf || kernel_.rows->axis_mapping[operand_of(n)] != AxisMapping::Domain || prefetched_[id])
      return false;
    return prefetched_[id] = true;
  }

  void measure() {
    for (const Node& n : graph_.nodes()) {
      if (n.op == Op::leaf) to_.array_bytes += static_cast<std::int64_t>(size_of(n.dtype));
      if (n.arity > 0) to_.nanoseconds += nanoseconds(n.op, graph_[graph_.operands(n).back()].dtype);
    }
    for (std::size_t k = 0; k < kernel_.outputs.size(); ++k)
      if (over_domain(k)) to_.array_bytes += static_cast<std::int64_t>(size_of(graph_[graph_.outputs()[k]].dtype));
    to_.nanoseconds += nanoseconds(to_.array_bytes);
  }

  const Kernel& kernel_;
  const Graph& graph_;
  const RowStages stages_;
  const Keeps keeps_;
  RowParts& to_;
  std::vector<bool> single_, kept_;             // by node
  std::vector<bool> prefetched_;                // by node: by a pass
  std::vector<std::int32_t> row_of_, tile_of_;  // by node
  std::vector<int> kept_after_;                 // by node: the tile is there from this stage on
};

}  // namespace

RowParts::RowParts(const Kernel& kernel, Keeps keeps) : stream_rule(kernel.graph) {
  RowPartsBuilder(kernel, keeps, *this).run();
}

}  // namespace sinter::inline v1::jit::cpu
