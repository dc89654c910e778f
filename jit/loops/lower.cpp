#include "lower.hpp"

#include <algorithm>

#include "accumulator.hpp"
#include "dead_code.hpp"
#include "elements.hpp"
#include "partials.hpp"
#include "resident_blocks.hpp"
#include "team.hpp"
#include "tiles.hpp"
#include "traversal.hpp"
#include "verify.hpp"

namespace sinter::inline v1::jit::loops {
namespace {

class Lowering {
 public:
  Lowering(const Frame& frame, Builder& b)
      : frame_(frame),
        graph_(frame.graph),
        b_(b),
        operands_(frame, b),
        elements_(frame.graph, b),
        team_(frame, b),
        partials_(frame, b, operands_),
        traversal_(frame, b, operands_, team_size(frame)),
        row_needed_(needed_of_rows()),
        row_(uniform()),
        same_(frame.kernel.inputs.size(), none) {}

  void run() {
    frame_.reduces() ? items() : domain();
    operands_.report_faults();
  }

 private:
  // ---- Which threads process what

  /// 0 where it is known at launch.
  static int team_size(const Frame& frame) {
    const RowConfig& scheme = frame.scheme;
    return !frame.reduces() ? 0 : scheme.team > 0 ? scheme.team : scheme.kept ? 0 : scheme.block;
  }

  Value index(Value v) { return b_.convert(v, Kind::Index); }
  Value special(Code code) { return index(b_.special(code)); }

  /// All threads of the grid share the domain.
  void domain() {
    const Value block = special(Code::Block), of_block = special(Code::Threads), blocks = special(Code::Blocks);
    const Value of_thread = special(Code::Thread);
    const Value thread = b_.named(b_.add(b_.mul(block, of_block), of_thread), "thread");
    const Value threads = b_.named(b_.mul(blocks, of_block), "threads");
    const int elements = frame_.c.is_tiled() ? frame_.c.lanes * frame_.c.lanes : frame_.c.lanes;
    const Value vectors = b_.over(operands_.columns(), elements);
    share_ = {thread, threads, 0, b_.integer(Kind::Index, 0), vectors, vectors, none, none};
    load_same();
    row_level(0);
    frame_.c.is_tiled() ? write_tiles() : write_elements();
  }

  /// Each block processes a set of rows after the other.
  void items() {
    const RowConfig& scheme = frame_.scheme;
    const Value thread = b_.special(Code::Thread);
    const int side = scheme.across ? scheme.block / scheme.team : 1;
    const int team = team_size(frame_);
    thread_ = b_.named(scheme.across     ? b_.over(thread, side)
                       : scheme.team > 0 ? b_.remainder(thread, scheme.team)
                                         : thread,
                       "t");
    number_ = scheme.across ? b_.remainder(thread, side) : b_.over(thread, std::max(scheme.team, 1));
    const Value team_size = team > 0 ? b_.integer(Kind::Index, team) : special(Code::Threads);
    const Value vectors = b_.named(b_.over(operands_.columns(), scheme.across ? 1 : frame_.c.lanes), "vectors");
    share_ = {index(thread_), team_size, team, b_.integer(Kind::Index, 0), vectors, vectors, none, none};
    const Value block = b_.convert(b_.special(Code::Block), Kind::Long), items = operands_.row_param("items");
    const Value blocks = b_.convert(b_.special(Code::Blocks), Kind::Long);
    const Value item = b_.range(block, items, blocks, Unroll::None, "item");
    enter_row(item);
    if (scheme.split)
      split_stage(0);
    else
      for (int s = 0; s < frame_.stages(); ++s) whole_stage(s);
    if (!scheme.split) write();
    if (team_.shares_memory() && (frame_.stages() == 1 || scheme.split)) b_.barrier();
    b_.end();
  }

  void enter_row(Value item) {
    Value tile = item;
    if (frame_.scheme.split) {
      const Value spread = operands_.row_param("spread");
      tile = b_.named(b_.quotient(item, spread), "tile");
      split_ = b_.named(b_.sub(item, b_.mul(tile, spread)), "split");
    }
    row_number_ = b_.named(row_of(tile), "row");
    here_ = frame_.has_idle_teams() ? b_.named(b_.less(row_number_, operands_.row_param("rows")), "here") : none;
    choose_share();
    operands_.enter_row(row_number_);
    for (const OperandLayout& a : operands_.all())
      if (is_read_before_writing(a)) operands_.pointer(a);
    load_same();
    row_level(0);
    if (frame_.scheme.kept) traversal_.load_kept(share_);
  }

  /// Else its address is computed when the row is written: until then it would take registers.
  bool is_read_before_writing(const OperandLayout& a) const {
    if (!a.is_loaded()) return false;
    const std::size_t passes = frame_.passes.passes.size() - frame_.passes.writes_elements;
    for (std::size_t pass = 0; pass < passes; ++pass)
      if (frame_.passes.passes[pass].inputs[a.number]) return true;
    return passes == 0;
  }

  Value row_of(Value tile) {
    if (!frame_.has_idle_teams()) return tile;
    const RowConfig& scheme = frame_.scheme;
    const int teams = scheme.block / scheme.team;
    const Value first = b_.times(tile, teams), row = b_.add(first, b_.convert(number_, Kind::Long));
    return b_.times(row, frame_.rows_of_thread());
  }

  /// A team without a row has no vectors.
  void choose_share() {
    const Value zero = b_.integer(Kind::Index, 0);
    share_.end = here_ == none ? share_.vectors : b_.select(here_, share_.vectors, zero);
    share_.here = share_.has_tail = here_;
    if (!frame_.scheme.split) return;
    const Value part = b_.param("part", index_type(Kind::Index)), begin = b_.mul(index(split_), part);
    share_.begin = b_.named(here_ == none ? begin : b_.select(here_, begin, zero), "begin");
    const Value end = b_.add(share_.begin, part);
    share_.end = b_.named(b_.select(b_.less(end, share_.end), end, share_.end), "end");
    const Value last = b_.sub(operands_.row_param("splits"), b_.integer(Kind::Long, 1));
    share_.has_tail = b_.both(here_, b_.equal(split_, last));
  }

  // ---- Per-row values

  Values uniform() const {
    const auto array = [&](std::size_t input) { return operands_.input(input).pointer; };
    return elements_.uniform(operands_.columns(), [&](std::size_t node) { return operands_.scalar(node); }, array);
  }

  /// Those that some pass or output reads.
  std::vector<bool> needed_of_rows() const {
    std::vector<Operand> wanted;
    for (const RowPass& pass : frame_.passes.passes) {
      wanted.insert(wanted.end(), pass.wanted.begin(), pass.wanted.end());
      for (const OnlineSum& s : pass.online) wanted.push_back(graph_.operands(graph_[s.sum])[0]);
    }
    for (std::size_t k = 0; k < graph_.outputs().size(); ++k) wanted.push_back(graph_.outputs()[k]);
    std::vector<bool> needed =
        backward_slice(graph_, wanted, [&](std::size_t i) { return combines(graph_.nodes()[i]); });
    for (std::size_t i = 0; i < needed.size(); ++i)
      if (!frame_.passes.stages.per_row[i] || combines(graph_.nodes()[i])) needed[i] = false;
    return needed;
  }

  /// Computes those that become available after `stages` stages.
  void row_level(int stages) {
    std::vector<bool> needed = row_needed_;
    for (std::size_t i = 0; i < needed.size(); ++i)
      if (frame_.passes.stages.stage[i] != stages) needed[i] = false;
    elements_.compute(needed, row_, here_, [&](std::size_t input) {
      const OperandLayout& a = operands_.input(input);
      return b_.named(operands_.load_row(a, here_), a.name);
    });
  }

  void load_same() {
    for (const OperandLayout& a : operands_.all())
      if (!a.output && a.along == Along::Same) same_[a.number] = b_.named(operands_.load_row(a, here_), a.name);
  }

  // ---- Stages

  void whole_stage(int s) {
    const Parts parts(frame_, b_, s);
    finish(parts, s, team_.combine(parts, s, reduce(parts, s)));
  }

  void finish(const Parts& parts, int s, const Part& whole) {
    parts.results(whole, row_);
    row_level(s + 1);
  }

  /// One launch leaves the parts of a stage, one for each block of a row; later ones start from them.
  void split_stage(int s) {
    if (s == frame_.stages()) return write();
    const Parts parts(frame_, b_, s);
    const Value pass = operands_.row_param("pass"), this_pass = b_.integer(Kind::Long, s);
    b_.when(b_.equal(pass, this_pass));
    const Part part = team_.combine(parts, s, reduce(parts, s));
    b_.when(b_.both(is_first(), here_));
    partials_.store(parts, s, part, row_number_, split_);
    b_.end();
    b_.end();
    b_.when(b_.less(this_pass, pass));
    Accumulator all(frame_, b_, parts, Accumulator::Whole);
    const Value splits = operands_.row_param("splits");
    const Value begin = b_.convert(thread_, Kind::Long);
    const Value end = here_ == none ? splits : b_.select(here_, splits, b_.integer(Kind::Long, 0));
    const Value step = b_.convert(share_.team, Kind::Long),
                split = b_.range(begin, end, step, Unroll::CompilerDefault, "other");
    all.add(partials_.load(parts, s, row_number_, split));
    b_.end();
    finish(parts, s, team_.combine(parts, s, all.finalize()));
    split_stage(s + 1);
    b_.end();
  }

  Value is_first() { return b_.equal(thread_, b_.integer(Kind::Word, 0)); }

  // ---- Passes

  Values compute(std::size_t pass, const std::vector<bool>& needed, const Tile& tile, Values values) {
    elements_.compute(needed, values, tile.place.guard, [&](std::size_t input) {
      return same_[input] != none ? same_[input] : traversal_.load(pass, operands_.input(input), tile);
    });
    return values;
  }
  Values compute(std::size_t pass, const Tile& tile) {
    const Registers& kept = traversal_.kept();
    const std::vector<bool> needed = element_dependencies(frame_, kept, frame_.passes.passes[pass].wanted);
    Values values = row_;
    for (std::size_t i = 0; i < kept.nodes.size(); ++i)
      if (needed[i] && kept.has_node(i)) values[i] = b_.get(tile.registers->nodes[i], tile.step);
    values = compute(pass, needed, tile, std::move(values));
    traversal_.save(tile, values);
    return values;
  }

  int lanes_of(const Tile& tile) const noexcept { return frame_.scheme.across ? frame_.c.lanes : tile.place.lanes; }

  /// Where in its row each lane's element is.
  Value positions(const Tile& tile) {
    const Value position = tile.place.position;
    const bool counts_vectors = !frame_.scheme.across && tile.place.lanes > 1;
    const Value first = b_.times(position, counts_vectors ? tile.place.lanes : 1);
    const Value all = counts_vectors ? b_.ramp(first, b_.integer(Kind::Index, 1), tile.place.lanes) : first;
    return b_.element(all, frame_.position_dtype());
  }

  /// The part that a vector's elements are: of each of the thread's rows, or of all of them.
  Part part_of(const Parts& parts, std::size_t pass, const Tile& tile) {
    const Values values = compute(pass, tile);
    Part part;
    for (const Parts::Field& f : parts.fields()) {
      const Operand operand = graph_.operands(graph_[f.reduction])[0];
      part.push_back(b_.splat(values[static_cast<std::size_t>(operand.node)], lanes_of(tile)));
      if (f.has_position) part.push_back(b_.splat(positions(tile), lanes_of(tile)));
    }
    if (!frame_.scheme.across) part = parts.combine_lanes(std::move(part));
    return tile.place.guard == none ? part : parts.select(tile.place.guard, part, parts.identity());
  }

  Part reduce(const Parts& parts, int stage) {
    if (!parts.online().empty()) return reduce_online(parts, stage);
    // A kept row has so few vectors for each thread that sums lose little between them.
    const bool exact = parts.has_float_sum() && (!frame_.scheme.kept || frame_.scheme.steps >= 8);
    const auto pass = static_cast<std::size_t>(stage);
    traversal_.begin_pass(pass);
    Accumulator all(frame_, b_, parts, exact ? Accumulator::Exact : Accumulator::Plain);
    traversal_.pass(
        pass, share_, [&](const Tile& tile) { all.add(part_of(parts, pass, tile)); },
        [&](const Batch& each) {
          if (!exact) return each([&](const Tile& tile) { all.add(part_of(parts, pass, tile)); });
          Accumulator batch(frame_, b_, parts, Accumulator::Plain);
          each([&](const Tile& tile) { batch.add(part_of(parts, pass, tile)); });
          all.add(batch.finalize());
        });
    traversal_.end_pass();
    return all.finalize();
  }

  // ---- Online sums

  Part reduce_online(const Parts& parts, int stage) {
    const auto pass = static_cast<std::size_t>(stage);
    OnlineSums sums(frame_, b_, parts);
    const auto elements = [&](const Tile& tile) { return frame_.scheme.across ? 1 : tile.place.lanes; };
    traversal_.pass(
        pass, share_,
        [&](const Tile& tile) {
          sums.advance(part_of(parts, pass, tile), elements(tile));
          sums.add(centered(parts, sums, pass, tile));
        },
        [&](const Batch& each) {
          // The pivots of all vectors first, so that sums about them move once at most.
          Accumulator batch(frame_, b_, parts, Accumulator::Plain);
          int count = 0;
          each([&](const Tile& tile) {
            batch.add(part_of(parts, pass, tile));
            count = frame_.scheme.steps * elements(tile);
          });
          sums.advance(batch.finalize(), count);
          OnlineSums::Batch terms = sums.batch();
          each([&](const Tile& tile) { terms.add(centered(parts, sums, pass, tile)); });
          sums.add(terms.current());
        });
    return sums.finalize();
  }

  /// The terms of online sums about the pivots that the thread has now, each of all lanes together.
  std::vector<Value> centered(const Parts& parts, const OnlineSums& sums, std::size_t pass, const Tile& tile) {
    const RowPass& row_pass = frame_.passes.passes[pass];
    std::vector<Operand> wanted;
    Values values = row_;
    for (std::size_t i = 0; i < parts.online().size(); ++i) {
      const OnlineSum& s = parts.online()[i].sum;
      wanted.push_back(graph_.operands(graph_[s.sum])[0]);
      values[static_cast<std::size_t>(s.pivot.node)] = sums.pivot(i);
    }
    const auto is_known = [&](std::size_t i) {
      const auto is_pivot = [&](const OnlineSum& s) { return static_cast<std::size_t>(s.pivot.node) == i; };
      return frame_.passes.stages.per_row[i] || std::ranges::any_of(row_pass.online, is_pivot);
    };
    values = compute(pass, backward_slice(graph_, wanted, is_known), tile, std::move(values));
    std::vector<Value> terms;
    const auto add = [&](Operand o) {
      terms.push_back(of_lanes(b_.splat(values[static_cast<std::size_t>(o.node)], lanes_of(tile))));
    };
    for (std::size_t i = 0; i < parts.online().size(); ++i) {
      add(wanted[i]);
      if (parts.online()[i].is_square()) add(parts.online()[i].sum.distance);
    }
    return terms;
  }

  Value of_lanes(Value a) {
    while (!frame_.scheme.across && b_.lanes(a) > 1) {
      const Value low = b_.low(a), high = b_.high(a);
      a = b_.alu(Op::add, b_.type(a).dtype, {low, high});
    }
    return a;
  }

  // ---- Outputs

  void write() {
    if (frame_.passes.writes_elements) {
      // Addresses are recomputed: keeping them would cost registers.
      if (frame_.scheme.kept) share_.thread = index(b_.opaque(thread_));
      for (const OperandLayout& a : operands_.all())
        if (a.is_element() && a.memory) operands_.pointer(a);
      write_elements();
    }
    write_rows();
  }

  void write_elements() {
    const std::size_t pass = frame_.passes.passes.size() - 1;
    const auto store = [&](const Tile& tile) {
      const Values values = compute(pass, tile);
      for (std::size_t k = 0; k < graph_.outputs().size(); ++k)
        if (frame_.passes.is_element_output(k))
          operands_.store(operands_.output(k), tile.place, values[static_cast<std::size_t>(graph_.outputs()[k].node)]);
    };
    traversal_.pass(pass, share_, store, [&](const Batch& each) { each(store); });
  }

  void write_tiles() {
    const Value tile = b_.range(share_.thread, share_.end, share_.team, Unroll::None, "tile");
    const std::vector<bool> needed = element_dependencies(frame_, {}, frame_.passes.passes[0].wanted);
    Tiles(frame_, b_, operands_).visit(tile, [&](const TileRow& row) {
      Values values = row_;
      elements_.compute(needed, values, none,
                        [&](std::size_t input) { return same_[input] != none ? same_[input] : row.input(input); });
      for (const OperandLayout& a : operands_.all()) {
        if (!a.output) continue;
        const Value value = values[static_cast<std::size_t>(graph_.outputs()[a.number].node)];
        operands_.store_at(a, row.offset(a), value, frame_.c.lanes);
      }
    });
    b_.end();
  }

  /// In place, the team must have read the per-row values before one of them is overwritten.
  void write_rows() {
    const auto is_row = [&](std::size_t k) { return !frame_.passes.is_element_output(k); };
    bool any = false;
    for (std::size_t k = 0; k < graph_.outputs().size(); ++k) any |= is_row(k);
    if (!any) return;
    const RowConfig& scheme = frame_.scheme;
    if (frame_.c.aliased && (scheme.across || scheme.team == 0)) b_.barrier();
    if (frame_.c.aliased && !scheme.across && scheme.team > 1) b_.warp_barrier();
    const Value is_first_split = scheme.split ? b_.equal(split_, b_.integer(Kind::Long, 0)) : none;
    b_.when(b_.both(b_.both(is_first(), here_), is_first_split));
    for (std::size_t k = 0; k < graph_.outputs().size(); ++k)
      if (is_row(k))
        operands_.store_row(operands_.output(k), row_[static_cast<std::size_t>(graph_.outputs()[k].node)], none);
    b_.end();
  }

  const Frame& frame_;
  const Graph& graph_;
  Builder& b_;
  Operands operands_;
  Elements elements_;
  Team team_;
  Partials partials_;
  Traversal traversal_;
  const std::vector<bool> row_needed_;
  Values row_;               // what is known of the row, by node
  std::vector<Value> same_;  // inputs of one element for each row, or for the domain
  Share share_{};
  Value thread_ = none, number_ = none;  // of the thread in its team, of the team in its block
  Value here_ = none;                    // whether the team has a row; none: it has
  Value row_number_ = none, split_ = none;
};

}  // namespace

Loops lower(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c) {
  const Frame frame(kernel, traits, c);
  Loops loops{.name = kernel.name, .wide = c.wide, .aliased = c.aliased, .code = {}};
  if (frame.reduces()) loops.block = c.rows.block;
  loops.resident_blocks = resident_blocks(frame);
  Builder b(loops);
  Lowering(frame, b).run();
  eliminate_dead_code(loops);
  check(loops);
  return loops;
}

}  // namespace sinter::inline v1::jit::loops
