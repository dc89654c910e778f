#include "lower.hpp"

#include <algorithm>

#include "accumulator.hpp"
#include "dead_code.hpp"
#include "elements.hpp"
#include "launch_bounds.hpp"
#include "split_workspace.hpp"
#include "team.hpp"
#include "transpose_tiles.hpp"
#include "traversal.hpp"
#include "verify.hpp"

namespace sinter::inline v1::jit::loops {
namespace {

class Lowering {
 public:
  Lowering(const LoweringContext& context, Builder& b)
      : context_(context),
        graph_(context.graph),
        b_(b),
        operands_(context, b),
        elements_(context.graph, b),
        team_(context, b),
        workspace_(context, b, operands_),
        traversal_(context, b, operands_, team_size(context)),
        row_needed_(needed_of_rows()),
        row_(uniform()),
        uniform_inputs_(context.kernel.inputs.size(), none) {}

  void run() {
    context_.reduces() ? emit_rows() : emit_elementwise();
    operands_.report_faults();
  }

 private:
  // ---- Which threads process what

  /// 0 where it is known at launch.
  static int team_size(const LoweringContext& context) {
    const RowConfig& scheme = context.scheme;
    return !context.reduces() ? 0 : scheme.team > 0 ? scheme.team : scheme.in_registers ? 0 : scheme.block;
  }

  Value index(Value v) { return b_.convert(v, Kind::Index); }
  Value builtin(Opcode code) { return index(b_.builtin(code)); }

  /// All threads of the grid share the domain.
  void emit_elementwise() {
    const Value block = builtin(Opcode::BlockIdx), of_block = builtin(Opcode::BlockDim),
                blocks = builtin(Opcode::GridDim);
    const Value of_thread = builtin(Opcode::ThreadIdx);
    const Value thread = b_.named(b_.add(b_.mul(block, of_block), of_thread), "thread");
    const Value threads = b_.named(b_.mul(blocks, of_block), "threads");
    const int elements =
        context_.c.is_tiled() ? context_.c.vector_width * context_.c.vector_width : context_.c.vector_width;
    const Value vectors = b_.div_by(operands_.columns(), elements);
    work_ = {thread, threads, 0, b_.integer(Kind::Index, 0), vectors, vectors, none, none};
    load_uniform_inputs();
    compute_row_values(0);
    context_.c.is_tiled() ? write_tiles() : write_elements();
  }

  /// A work item is a group of rows, one for each team of a block, or a split of such a group.
  void emit_rows() {
    const RowConfig& scheme = context_.scheme;
    const Value thread = b_.builtin(Opcode::ThreadIdx);
    const int team = team_size(context_);
    thread_ = b_.named(scheme.row_per_element ? b_.div_by(thread, context_.teams_per_block())
                       : scheme.team > 0      ? b_.rem_by(thread, scheme.team)
                                              : thread,
                       "t");
    team_index_ = scheme.row_per_element ? b_.rem_by(thread, context_.teams_per_block())
                                         : b_.div_by(thread, std::max(scheme.team, 1));
    const Value team_size = team > 0 ? b_.integer(Kind::Index, team) : builtin(Opcode::BlockDim);
    const int width = scheme.row_per_element ? 1 : context_.c.vector_width;
    const Value vectors = b_.named(b_.div_by(operands_.columns(), width), "vectors");
    work_ = {index(thread_), team_size, team, b_.integer(Kind::Index, 0), vectors, vectors, none, none};
    const Value block = b_.convert(b_.builtin(Opcode::BlockIdx), Kind::Int64);
    const Value work_items = operands_.row_param("work_items");
    const Value blocks = b_.convert(b_.builtin(Opcode::GridDim), Kind::Int64);
    b_.emit_for(block, work_items, blocks, LoopHint::Rolled, "work_item", [&](Value work_item) {
      enter_row(work_item);
      if (scheme.split)
        emit_split_stage(0);
      else
        for (int s = 0; s < context_.stages(); ++s) emit_stage(s);
      if (!scheme.split) write();
      if (team_.shares_memory() && (context_.stages() == 1 || scheme.split)) b_.barrier();
    });
  }

  void enter_row(Value work_item) {
    Value row_group = work_item;
    if (context_.scheme.split) {
      const Value splits = operands_.row_param("splits_in_launch");
      row_group = b_.named(b_.div(work_item, splits), "row_group");
      split_ = b_.named(b_.sub(work_item, b_.mul(row_group, splits)), "split");
    }
    row_index_ = b_.named(row_of(row_group), "row");
    if (context_.has_idle_teams())
      row_active_ = b_.named(b_.less(row_index_, operands_.row_param("rows")), "row_active");
    partition_row();
    operands_.enter_row(row_index_);
    for (const OperandLayout& a : operands_.all())
      if (is_read_before_writing(a)) operands_.pointer(a);
    load_uniform_inputs();
    compute_row_values(0);
    if (context_.scheme.in_registers) traversal_.load_registers(work_);
  }

  /// Else its address is computed when the pass that writes begins: until then it would take registers.
  bool is_read_before_writing(const OperandLayout& a) const {
    if (!a.is_loaded()) return false;
    for (std::size_t pass = 0; pass < context_.passes.passes.size(); ++pass)
      if ((pass == 0 || !context_.passes.writes(pass)) && context_.passes.passes[pass].inputs[a.index]) return true;
    return false;
  }

  /// The first of the thread's rows.
  Value row_of(Value row_group) {
    if (!context_.has_idle_teams()) return row_group;
    const Value first = b_.mul_by(row_group, context_.teams_per_block()),
                row = b_.add(first, b_.convert(team_index_, Kind::Int64));
    return b_.mul_by(row, context_.rows_of_thread());
  }

  /// A team without a row has no vectors.
  void partition_row() {
    const Value zero = b_.integer(Kind::Index, 0);
    work_.end = row_active_ == none ? work_.row_vectors : b_.select(row_active_, work_.row_vectors, zero);
    work_.row_active = work_.owns_tail = row_active_;
    if (!context_.scheme.split) return;
    const Value vectors = b_.param("vectors_per_split", index_type(Kind::Index));
    const Value begin = b_.mul(index(split_), vectors);
    work_.begin = b_.named(row_active_ == none ? begin : b_.select(row_active_, begin, zero), "begin");
    const Value end = b_.add(work_.begin, vectors);
    work_.end = b_.named(b_.select(b_.less(end, work_.end), end, work_.end), "end");
    const Value last = b_.sub(operands_.row_param("splits"), b_.integer(Kind::Int64, 1));
    work_.owns_tail = b_.and_guard(row_active_, b_.equal(split_, last));
  }

  // ---- Per-row values

  Values uniform() const {
    const auto array = [&](std::size_t input) { return operands_.input(input).pointer; };
    return elements_.uniform(operands_.columns(), [&](std::size_t node) { return operands_.scalar(node); }, array);
  }

  /// The per-row values that some pass or output reads.
  std::vector<bool> needed_of_rows() const {
    std::vector<Operand> wanted;
    for (const RowPass& pass : context_.passes.passes) {
      wanted.insert(wanted.end(), pass.wanted.begin(), pass.wanted.end());
      for (const OnlineSum& s : pass.online) wanted.push_back(graph_.operands(graph_[s.sum])[0]);
    }
    for (std::size_t k = 0; k < graph_.outputs().size(); ++k) wanted.push_back(graph_.outputs()[k]);
    std::vector<bool> needed =
        backward_slice(graph_, wanted, [&](std::size_t i) { return combines(graph_.nodes()[i]); });
    for (std::size_t i = 0; i < needed.size(); ++i)
      if (!context_.passes.stages.per_row[i] || combines(graph_.nodes()[i])) needed[i] = false;
    return needed;
  }

  /// Computes the per-row values that become available after `stages` stages.
  void compute_row_values(int stages) {
    std::vector<bool> needed = row_needed_;
    for (std::size_t i = 0; i < needed.size(); ++i)
      if (context_.passes.stages.stage[i] != stages) needed[i] = false;
    elements_.compute(needed, row_, row_active_, [&](std::size_t input) {
      const OperandLayout& a = operands_.input(input);
      return b_.named(operands_.load_row(a, row_active_), a.name);
    });
  }

  void load_uniform_inputs() {
    for (const OperandLayout& a : operands_.all())
      if (!a.output && a.layout == Layout::Uniform)
        uniform_inputs_[a.index] = b_.named(operands_.load_row(a, row_active_), a.name);
  }

  // ---- Stages

  void emit_stage(int s) {
    const Reducer reducer(context_, b_, s);
    publish_results(reducer, s, team_.combine(reducer, s, reduce(reducer, s)));
  }

  void publish_results(const Reducer& reducer, int s, const Partial& whole) {
    reducer.results(whole, row_);
    compute_row_values(s + 1);
  }

  /// One launch stores the partial results of a stage, one for each block of a row; later ones start from them.
  void emit_split_stage(int s) {
    if (s == context_.stages()) return write();
    const Reducer reducer(context_, b_, s);
    const Value pass = operands_.row_param("pass"), this_pass = b_.integer(Kind::Int64, s);
    b_.emit_if(b_.equal(pass, this_pass), [&] {
      const Partial partial = team_.combine(reducer, s, reduce(reducer, s));
      b_.emit_if(b_.and_guard(is_first(), row_active_),
                 [&] { workspace_.store(reducer, s, partial, row_index_, split_); });
    });
    b_.emit_if(b_.less(this_pass, pass), [&] {
      publish_results(reducer, s, team_.combine(reducer, s, combine_splits(reducer, s)));
      emit_split_stage(s + 1);
    });
  }

  Partial combine_splits(const Reducer& reducer, int s) {
    Accumulator all(context_, b_, reducer, Accumulator::Whole);
    const Value splits = operands_.row_param("splits");
    const Value begin = b_.convert(thread_, Kind::Int64);
    const Value end = row_active_ == none ? splits : b_.select(row_active_, splits, b_.integer(Kind::Int64, 0));
    const Value step = b_.convert(work_.stride, Kind::Int64);
    b_.emit_for(begin, end, step, LoopHint::CompilerDefault, "other",
                [&](Value split) { all.add(workspace_.load(reducer, s, row_index_, split)); });
    return all.finalize();
  }

  Value is_first() { return b_.equal(thread_, b_.integer(Kind::UInt32, 0)); }

  // ---- Passes

  Values compute(std::size_t pass, const std::vector<bool>& needed, const VectorSlot& slot, Values values) {
    elements_.compute(needed, values, slot.at.guard, [&](std::size_t input) {
      return uniform_inputs_[input] != none ? uniform_inputs_[input]
                                            : traversal_.load(pass, operands_.input(input), slot);
    });
    return values;
  }
  Values compute(std::size_t pass, const VectorSlot& slot) {
    const Registers& registers = traversal_.registers();
    const std::vector<bool> needed = element_dependencies(context_, registers, context_.passes.passes[pass].wanted);
    Values values = row_;
    for (std::size_t i = 0; i < registers.nodes.size(); ++i)
      if (needed[i] && registers.has_node(i)) values[i] = b_.get(slot.registers->nodes[i], slot.step);
    values = compute(pass, needed, slot, std::move(values));
    traversal_.save(slot, values);
    return values;
  }

  int width_of(const VectorSlot& slot) const noexcept {
    return context_.scheme.row_per_element ? context_.c.vector_width : slot.at.width;
  }

  /// The position in its row of each element.
  Value positions(const VectorSlot& slot) {
    const Value position = slot.at.index;
    const bool counts_vectors = !context_.scheme.row_per_element && slot.at.width > 1;
    const Value first = b_.mul_by(position, counts_vectors ? slot.at.width : 1);
    const Value all = counts_vectors ? b_.ramp(first, b_.integer(Kind::Index, 1), slot.at.width) : first;
    return b_.element(all, context_.position_dtype());
  }

  /// The partial result of a vector's elements, one for each of the thread's rows.
  Partial partial_of_vector(const Reducer& reducer, std::size_t pass, const VectorSlot& slot) {
    const Values values = compute(pass, slot);
    if (context_.passes.writes(pass)) store_elements(slot, values);
    Partial partial;
    for (const Reducer::Field& f : reducer.fields()) {
      const Operand operand = graph_.operands(graph_[f.reduction])[0];
      partial.push_back(b_.splat(values[static_cast<std::size_t>(operand.node)], width_of(slot)));
      if (f.has_position) partial.push_back(b_.splat(positions(slot), width_of(slot)));
    }
    if (!context_.scheme.row_per_element) partial = reducer.reduce_vector(std::move(partial));
    return slot.at.guard == none ? partial : reducer.select(slot.at.guard, partial, reducer.identity());
  }

  Partial reduce(const Reducer& reducer, int stage) {
    if (!reducer.online().empty()) return reduce_online(reducer, stage);
    // A thread adds few vectors of a row that is in registers, so their sums are accurate enough.
    const bool is_compensated =
        reducer.has_float_sum() && (!context_.scheme.in_registers || context_.scheme.vectors_per_thread >= 8);
    const auto pass = static_cast<std::size_t>(stage);
    if (context_.passes.writes(pass)) begin_writing();
    traversal_.begin_pass(pass);
    Accumulator all(context_, b_, reducer, is_compensated ? Accumulator::Compensated : Accumulator::Plain);
    traversal_.pass(
        pass, work_, [&](const VectorSlot& slot) { all.add(partial_of_vector(reducer, pass, slot)); },
        [&](const Batch& each) {
          if (!is_compensated)
            return each([&](const VectorSlot& slot) { all.add(partial_of_vector(reducer, pass, slot)); });
          Accumulator batch(context_, b_, reducer, Accumulator::Plain);
          each([&](const VectorSlot& slot) { batch.add(partial_of_vector(reducer, pass, slot)); });
          all.add(batch.finalize());
        });
    traversal_.end_pass();
    return all.finalize();
  }

  // ---- Online sums

  Partial reduce_online(const Reducer& reducer, int stage) {
    const auto pass = static_cast<std::size_t>(stage);
    OnlineSums sums(context_, b_, reducer);
    const auto elements = [&](const VectorSlot& slot) { return context_.scheme.row_per_element ? 1 : slot.at.width; };
    traversal_.pass(
        pass, work_,
        [&](const VectorSlot& slot) {
          sums.advance(partial_of_vector(reducer, pass, slot), elements(slot));
          sums.add(centered(reducer, sums, pass, slot));
        },
        [&](const Batch& each) {
          // The shifts of all vectors first, so that the sums are rescaled at most once.
          Accumulator batch(context_, b_, reducer, Accumulator::Plain);
          int count = 0;
          each([&](const VectorSlot& slot) {
            batch.add(partial_of_vector(reducer, pass, slot));
            count = context_.scheme.vectors_per_thread * elements(slot);
          });
          sums.advance(batch.finalize(), count);
          OnlineSums::Batch terms = sums.batch();
          each([&](const VectorSlot& slot) { terms.add(centered(reducer, sums, pass, slot)); });
          sums.add(terms.current());
        });
    return sums.finalize();
  }

  /// The terms of online sums relative to the thread's current shifts, each summed over the vector.
  std::vector<Value> centered(const Reducer& reducer, const OnlineSums& sums, std::size_t pass,
                              const VectorSlot& slot) {
    const RowPass& row_pass = context_.passes.passes[pass];
    std::vector<Operand> wanted;
    Values values = row_;
    for (std::size_t i = 0; i < reducer.online().size(); ++i) {
      const OnlineSum& s = reducer.online()[i].sum;
      wanted.push_back(graph_.operands(graph_[s.sum])[0]);
      values[static_cast<std::size_t>(s.shift.node)] = sums.shift(i);
    }
    const auto is_known = [&](std::size_t i) {
      const auto is_shift = [&](const OnlineSum& s) { return static_cast<std::size_t>(s.shift.node) == i; };
      return context_.passes.stages.per_row[i] || std::ranges::any_of(row_pass.online, is_shift);
    };
    values = compute(pass, backward_slice(graph_, wanted, is_known), slot, std::move(values));
    std::vector<Value> terms;
    const auto add = [&](Operand o) {
      terms.push_back(sum_of_vector(b_.splat(values[static_cast<std::size_t>(o.node)], width_of(slot))));
    };
    for (std::size_t i = 0; i < reducer.online().size(); ++i) {
      add(wanted[i]);
      if (reducer.online()[i].is_square()) add(reducer.online()[i].sum.deviation);
    }
    return terms;
  }

  Value sum_of_vector(Value a) {
    while (!context_.scheme.row_per_element && b_.width(a) > 1) {
      const Value low = b_.low(a), high = b_.high(a);
      a = b_.op(Op::add, b_.type(a).dtype, {low, high});
    }
    return a;
  }

  // ---- Outputs

  void write() {
    if (context_.passes.stages.has_final_pass) write_elements();
    write_rows();
  }

  /// Before the pass that writes elements. Addresses are recomputed: keeping them would cost registers. Those of a
  /// thread that has a row for itself depend on no index, which would keep NVRTC from storing vectors.
  void begin_writing() {
    if (context_.scheme.in_registers && team_size(context_) != 1) work_.thread = index(b_.opaque(thread_));
    for (const OperandLayout& a : operands_.all())
      if (a.is_element() && a.memory) operands_.pointer(a);
  }

  void write_elements() {
    const std::size_t pass = context_.passes.passes.size() - 1;
    begin_writing();
    const auto store = [&](const VectorSlot& slot) { store_elements(slot, compute(pass, slot)); };
    traversal_.pass(pass, work_, store, [&](const Batch& each) { each(store); });
  }
  void store_elements(const VectorSlot& slot, const Values& values) {
    for (std::size_t k = 0; k < graph_.outputs().size(); ++k)
      if (context_.passes.is_element_output(k))
        operands_.store(operands_.output(k), slot.at, values[static_cast<std::size_t>(graph_.outputs()[k].node)]);
  }

  void write_tiles() {
    const std::vector<bool> needed = element_dependencies(context_, {}, context_.passes.passes[0].wanted);
    const TransposeTiles tiles(context_, b_, operands_);
    const auto write_row = [&](const TransposeTileRow& row) {
      Values values = row_;
      elements_.compute(needed, values, none, [&](std::size_t input) {
        return uniform_inputs_[input] != none ? uniform_inputs_[input] : row.input(input);
      });
      for (const OperandLayout& a : operands_.all()) {
        if (!a.output) continue;
        const Value value = values[static_cast<std::size_t>(graph_.outputs()[a.index].node)];
        operands_.store_at(a, row.offset(a), value, context_.c.vector_width);
      }
    };
    b_.emit_for(work_.thread, work_.end, work_.stride, LoopHint::Rolled, "tile",
                [&](Value tile) { tiles.visit(tile, write_row); });
  }

  /// In place, the team must have read the per-row values before one of them is overwritten.
  void write_rows() {
    const auto is_row = [&](std::size_t k) { return !context_.passes.is_element_output(k); };
    bool any = false;
    for (std::size_t k = 0; k < graph_.outputs().size(); ++k) any |= is_row(k);
    if (!any) return;
    const RowConfig& scheme = context_.scheme;
    if (context_.c.aliased && (scheme.row_per_element || scheme.team == 0)) b_.barrier();
    if (context_.c.aliased && !scheme.row_per_element && scheme.team > 1) b_.warp_barrier();
    const Value is_first_split = scheme.split ? b_.equal(split_, b_.integer(Kind::Int64, 0)) : none;
    b_.emit_if(b_.and_guard(b_.and_guard(is_first(), row_active_), is_first_split), [&] {
      for (std::size_t k = 0; k < graph_.outputs().size(); ++k)
        if (is_row(k))
          operands_.store_row(operands_.output(k), row_[static_cast<std::size_t>(graph_.outputs()[k].node)], none);
    });
  }

  const LoweringContext& context_;
  const Graph& graph_;
  Builder& b_;
  Operands operands_;
  Elements elements_;
  Team team_;
  SplitWorkspace workspace_;
  Traversal traversal_;
  const std::vector<bool> row_needed_;
  Values row_;                         // per-row values that have been computed, by node
  std::vector<Value> uniform_inputs_;  // inputs of one element for each row, or for the domain
  WorkRange work_{};
  Value thread_ = none, team_index_ = none;  // the indices of the thread in its team, and of the team in its block
  Value row_active_ = none;                  // whether the team has a row; none: always
  Value row_index_ = none, split_ = none;
};

}  // namespace

LoopProgram lower(const Kernel& kernel, const KernelTraits& traits, const KernelClass& c) {
  const LoweringContext context(kernel, traits, c);
  LoopProgram program{.name = kernel.name, .wide = c.wide, .aliased = c.aliased, .serial = false, .code = {}};
  if (context.reduces()) program.max_threads_per_block = c.rows.block;
  program.min_blocks_per_multiprocessor = min_blocks_per_multiprocessor(context);
  Builder b(program);
  Lowering(context, b).run();
  eliminate_dead_code(program);
  check(program);
  return program;
}

}  // namespace sinter::inline v1::jit::loops
