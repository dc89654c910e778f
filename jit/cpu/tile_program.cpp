#include "tile_program.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include <runtime/fork.hpp>
#include <runtime/per_thread.hpp>
#include <runtime/tbb_guard.hpp>
#include <sinter/runtime/float_environment.hpp>
#include "direct_run.hpp"
#include "streaming.hpp"
#include "tier.hpp"
#include "worker.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr std::int64_t panel_tile = 256;  // elements of a row of a panel
constexpr std::int64_t least_tile = 128;  // elements
constexpr int max_variants = 32;

constexpr std::int64_t unpacked_tile = 8192;  // elements, for a single step, which rereads nothing

std::int64_t tile_of(const Steps& steps, const TileLayout& layout) {
  if (layout.panel > 1) return std::min({steps.tile, layout.row, panel_tile});
  if (layout.row <= steps.tile) return layout.row;
  // Both are products of the innermost extents, so the longer one is a multiple of the other.
  if (const std::int64_t unit = std::max(layout.period, layout.short_row); unit > 1)
    return std::max(steps.tile / unit, (least_tile + unit - 1) / unit) * unit;
  const bool one_pass = steps.tiles.size() == 1 && layout.leaves.every_second == 0 &&
                        std::ranges::find(layout.accesses, Access::Packed) == layout.accesses.end();
  return one_pass ? std::min(layout.row, unpacked_tile) : steps.tile;
}

/// Estimated.
double nanoseconds_of(const Steps& steps, const TileLayout& layout, const LoopNest& nest) {
  const std::int64_t row = layout.leaves.per_short_row ? layout.short_row : layout.row;
  return static_cast<double>(nest.numel) * (steps.nanoseconds + steps.row_nanoseconds / static_cast<double>(row));
}

void run_tiles(const Job& job, std::int64_t first, std::int64_t last) {
  if (DirectRun::is_possible(job.steps, job.nest, job.layout)) return DirectRun(job).run(first, last);
  runtime::per_thread<Worker>().run(job, first, last);
}

/// A task of a run.
void run_chunk(const Job& job, std::int64_t first, std::int64_t last) {
  run_tiles(job, first, last);
  if (job.options.streams) finish_streaming();
}

/// Whether an input is an output's array: the two coincide element for element.
bool is_output(const LoopNest& nest, const NestOperand& input) {
  for (int k = 0; k < nest.outputs; ++k)
    if (nest.operands[k].data == input.data) return true;
  return false;
}

/// Whether one step writes all outputs, each to an array of its own: what a row does besides is then no more than
/// additions to addresses.
bool is_one_loop_into_arrays(const Steps& steps) { return steps.tiles.size() == 1 && steps.writes_outputs_once(); }

ShortestRows shortest_rows_of(const Graph& graph) noexcept {
  if (std::ranges::any_of(graph.nodes(), [](const Node& n) { return is_random(n.op); })) return shortest_rows_of_random;
  const bool is_one_operation = std::ranges::count_if(graph.nodes(), [](const Node& n) { return n.arity > 0; }) <= 1;
  return is_one_operation ? shortest_rows_of_one : shortest_rows;
}

}  // namespace

struct TileProgram::Impl {
  /// The steps depend on the leaves' patterns, which rarely change between runs.
  struct Variant {
    LeafPatterns leaves;
    Steps steps;
    std::shared_ptr<Tier> tier;
    std::unique_ptr<const Variant> next;
  };

  Impl(const Graph& graph, std::string_view name, FusedWork fused)
      : source(std::make_shared<const TierSource>(TierSource{graph, std::string(name), std::move(fused)})),
        shortest(shortest_rows_of(graph)),
        may_be_in_place(std::ranges::none_of(
            graph.nodes(), [](const Node& n) { return n.op == Op::iota || n.op == Op::array || n.op == Op::call; })),
        stream_rule(graph) {}
  ~Impl() { std::unique_ptr<const Variant> all(newest.load()); }

  /// Makes the layout, and finds or makes its steps, whose functions are ready.
  const Variant& variant_for(const LoopNest& nest, TileLayout& layout, ShortestRows shortest_of_layout) {
    const Variant& v = variant_with_layout(nest, layout, shortest_of_layout);
    for (const FunctionLoop& f : v.steps.functions) f.make_ready();
    return v;
  }

  const Variant& variant_with_layout(const LoopNest& nest, TileLayout& layout, ShortestRows shortest_of_layout) {
    make_layout(layout, nest, shortest_of_layout);
    if (nest.outputs > 1)
      for (std::size_t k = static_cast<std::size_t>(nest.outputs); k < nest.operands.size(); ++k)
        if (layout.accesses[k] == Access::InPlace && is_output(nest, nest.operands[k])) pack(layout, k);
    if (const Variant* found = find(layout.leaves)) return *found;
    // Past this number of variants, one more with all leaves packed serves all other nests.
    if (variants.load(std::memory_order_relaxed) >= max_variants) {
      const LeafPatterns packed{};
      if (const Variant* found = find(packed)) {
        pack_all(layout);
        return *found;
      }
    }
    const runtime::ForkSafeLock lock(adding);
    if (variants.load(std::memory_order_relaxed) >= max_variants) pack_all(layout);
    const Variant* found = find(layout.leaves);
    return found != nullptr ? *found : add(layout.leaves);
  }

  /// Those that are to run now. A compiled loop takes rows as they are that tiles would merge, if it reads all operands
  /// in place.
  const Steps& steps_for(const LoopNest& nest, TileLayout& layout, RunOptions options) {
    if (may_be_one_loop_over_rows(nest)) {
      const Variant& v = variant_for(nest, layout, shortest_compiled_rows);
      const Steps* const steps = reads_in_place(layout) ? &steps_to_run(v, layout, nest, options) : nullptr;
      if (steps != nullptr && steps != &v.steps && is_one_loop_into_arrays(*steps)) return *steps;
      if (!merges_rows(nest, shortest)) return steps != nullptr ? *steps : steps_to_run(v, layout, nest, options);
    }
    const Variant& v = variant_for(nest, layout, shortest);
    return steps_to_run(v, layout, nest, options);
  }

  /// Null if they cannot reduce rows of such a nest.
  const Variant* reducing_variant(const LoopNest& nest, TileLayout& layout) {
    if (!may_be_in_place) return nullptr;
    const Variant& v = variant_for(nest, layout, shortest_compiled_rows);
    return reads_in_place(layout) && has_states(layout.leaves, source->fused.reductions) ? &v : nullptr;
  }

  /// Compiled ones as soon as they are ready.
  static const Steps& steps_to_run(const Variant& v, const TileLayout& layout, const LoopNest& nest,
                                   RunOptions options) {
    if (options.counts && (options.streams || is_worth_compiling(v, layout)))
      v.tier->count(nanoseconds_of(v.steps, layout, nest));
    const Steps* const compiled = v.tier->ready();
    return compiled != nullptr ? *compiled : v.steps;
  }

  /// The library has a loop for each operation. A compiled one is faster only because it takes many rows in one call,
  /// reads every second element in place, or streams its result.
  static bool is_worth_compiling(const Variant& v, const TileLayout& layout) noexcept {
    const bool is_one_operation = v.steps.tiles.size() == 1 && v.steps.tiles[0].chain == none;
    return !is_one_operation || (layout.rows > 1 && layout.row < long_row) || layout.leaves.every_second != 0;
  }

  RunOptions options_of(const LoopNest& nest) const noexcept {
    return {.far = nest.numel * stream_rule.bytes() > fits_cache, .streams = stream_rule.applies(nest)};
  }
  bool may_be_one_loop_over_rows(const LoopNest& nest) const noexcept {
    return may_be_in_place && !nest.contiguous && nest.ndim > 1 &&
           nest.extents[nest.ndim - 1] >= shortest_compiled_rows.any;
  }
  static bool reads_in_place(const TileLayout& layout) noexcept {
    return std::ranges::none_of(layout.accesses, [](Access a) { return a >= Access::Repeated; });
  }

  const Variant* find(LeafPatterns leaves) const {
    for (const Variant* v = newest.load(std::memory_order_acquire); v != nullptr; v = v->next.get())
      if (v->leaves == leaves) return v;
    return nullptr;
  }

  const Variant& add(LeafPatterns leaves) {
    auto made = std::make_unique<Variant>(leaves, make_steps(source->graph, leaves),
                                          std::make_shared<Tier>(source, leaves), nullptr);
    made->next.reset(newest.load());
    newest.store(made.get(), std::memory_order_release);
    variants.fetch_add(1, std::memory_order_relaxed);
    return *made.release();
  }

  const std::shared_ptr<const TierSource> source;
  const ShortestRows shortest;
  const bool may_be_in_place;  // no operand lacks memory or is gathered, no function is called
  const StreamRule stream_rule;
  std::atomic<const Variant*> newest{nullptr};  // owned; immutable once published
  std::mutex adding;
  std::atomic<int> variants{0};
};

TileProgram::TileProgram(const Graph& graph, std::string_view name, FusedWork fused)
    : impl_(new Impl(graph, name, std::move(fused))) {}
TileProgram::TileProgram(TileProgram&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
TileProgram::~TileProgram() { delete impl_; }

bool TileProgram::is_compiled() const noexcept {
  for (const Impl::Variant* v = impl_->newest.load(std::memory_order_acquire); v != nullptr; v = v->next.get())
    if (v->tier->ready() != nullptr) return true;
  return false;
}

void TileProgram::prepare(const LoopNest& nest) const { prepare_part(nest, impl_->stream_rule.applies(nest)); }

void TileProgram::prepare_part(const LoopNest& nest, bool streams) const {
  TileLayout layout;
  for (const bool is_compiled : {true, false}) {
    if (is_compiled && !impl_->may_be_one_loop_over_rows(nest)) continue;
    const ShortestRows shortest = is_compiled ? shortest_compiled_rows : impl_->shortest;
    const Impl::Variant& v = impl_->variant_for(nest, layout, shortest);
    if (streams || Impl::is_worth_compiling(v, layout)) v.tier->prepare();
  }
}

void TileProgram::run_part(const LoopNest& nest, const std::uint64_t* scalars, RunOptions options,
                           SharedFaults& faults) const {
  TileLayout layout;
  const Steps& steps = impl_->steps_for(nest, layout, options);
  const Job job{steps, nest, layout, loop_table(), scalars, tile_of(steps, layout), options, faults};
  run_tiles(job, 0, job.tiles());
}

TileProgram::Reducing TileProgram::run_reducing(const LoopNest& nest, const std::uint64_t* scalars, RunOptions options,
                                                SharedFaults& faults) const {
  TileLayout layout;
  const Impl::Variant* const v = impl_->reducing_variant(nest, layout);
  if (v == nullptr) return Reducing::Never;
  v->tier->count(nanoseconds_of(v->steps, layout, nest));
  const Steps* const steps = v->tier->ready();
  if (steps == nullptr) return v->tier->has_given_up() ? Reducing::Never : Reducing::NotYet;
  const Job job{*steps, nest, layout, loop_table(), scalars, tile_of(*steps, layout), options, faults};
  run_tiles(job, 0, job.tiles());
  return Reducing::Done;
}

bool TileProgram::prepare_reducing(const LoopNest& nest) const {
  TileLayout layout;
  const Impl::Variant* const v = impl_->reducing_variant(nest, layout);
  if (v == nullptr) return false;
  v->tier->prepare();
  return v->tier->ready() != nullptr;
}

RunFaults TileProgram::run(const LoopNest& nest, std::span<const std::uint64_t> scalars) const {
  if (nest.numel == 0) return {};
  SharedFaults faults;
  TileLayout layout;
  const RunOptions options = impl_->options_of(nest);
  const Steps& steps = impl_->steps_for(nest, layout, options);
  const Job job{steps, nest, layout, loop_table(), scalars.data(), tile_of(steps, layout), options, faults};
  const std::int64_t tiles = job.tiles();
  const double work = nanoseconds_of(steps, layout, nest);
  const auto run_all = [&] {
    run_chunk(job, 0, tiles);
    return faults.met();
  };
  if (work < worth_threads_ns || tiles == 1 || !runtime::claim_tbb()) return run_all();
  const std::int64_t threads = tbb::this_task_arena::max_concurrency();
  const std::int64_t chunks = std::min({tiles, static_cast<std::int64_t>(work / chunk_ns), 8 * threads});
  if (threads == 1) return run_all();
  // Isolated: while this thread waits, it must not run tasks of the caller, which may hold a lock.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, chunks), [&](const tbb::blocked_range<std::int64_t>& part) {
      const runtime::DefaultFloatEnvironment floats;
      run_chunk(job, part.begin() * tiles / chunks, part.end() * tiles / chunks);
    });
  });
  return faults.met();
}

}  // namespace sinter::inline v1::jit::cpu
