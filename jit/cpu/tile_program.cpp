#include "tile_program.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "worker.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr double worth_threads_ns = 40'000;  // below this much work one thread does it all
constexpr double chunk_ns = 15'000;          // what a task does at least

const RowTable& table_of(Isa isa) {
  return isa == Isa::Avx512 ? avx512::row_table : isa == Isa::Avx2 ? avx2::row_table : sse4::row_table;
}

Worker& this_threads_worker() {
  thread_local Worker worker;
  return worker;
}

std::int64_t last_level_cache() {
  static const std::int64_t bytes = [] {
    const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE), l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return std::max<std::int64_t>({l3, l2, 4 << 20});
  }();
  return bytes;
}

/// Whether an input is an output's array: the two coincide element for element.
bool is_output(const LoopNest& nest, const NestOperand& input) {
  for (int k = 0; k < nest.outputs; ++k)
    if (nest.operands[k].data == input.data) return true;
  return false;
}

/// Large outputs that nobody reads meanwhile are written past the cache, which saves reading their lines first.
bool worth_streaming(const LoopNest& nest, const Layout& layout, const Steps& steps) {
  if (layout.row < 4096 || nest.numel * steps.output_bytes < last_level_cache()) return false;
  for (std::size_t k = static_cast<std::size_t>(nest.outputs); k < nest.operands.size(); ++k)
    if (is_output(nest, nest.operands[k])) return false;
  return true;
}

}  // namespace

struct TileProgram::Impl {
  explicit Impl(const Graph& g) : graph(g) {}
  ~Impl() {
    for (std::atomic<const Steps*>& s : made) delete s.load();
  }

  /// The fused steps need fma instructions, and take what is uniform from the graph alone; the plain steps find out in
  /// each run. Whoever comes first makes them.
  const Steps& steps(bool fused) {
    const Steps* have = made[fused].load(std::memory_order_acquire);
    if (have != nullptr) return *have;
    auto mine = std::make_unique<const Steps>(make_steps(graph, fused));
    if (!made[fused].compare_exchange_strong(have, mine.get(), std::memory_order_acq_rel)) return *have;
    return *mine.release();
  }

  const Graph graph;
  std::atomic<const Steps*> made[2] = {};
};

TileProgram::TileProgram(const Graph& graph) : impl_(new Impl(graph)) { impl_->steps(isa() != Isa::Sse4); }
TileProgram::TileProgram(TileProgram&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
TileProgram::~TileProgram() { delete impl_; }

void TileProgram::run(const LoopNest& nest, std::span<const std::uint64_t> scalars) const {
  if (nest.numel == 0) return;
  Layout layout;
  make_layout(layout, nest);
  if (nest.outputs > 1)
    for (std::size_t k = static_cast<std::size_t>(nest.outputs); k < nest.operands.size(); ++k)
      if (layout.walks[k] == Walk::InPlace && is_output(nest, nest.operands[k])) layout.walks[k] = Walk::Packed;
  const Isa chosen = isa();
  const Steps& steps = impl_->steps(chosen != Isa::Sse4 && !layout.any_same);
  const Job job{steps, nest, layout, table_of(chosen), scalars.data(), std::min(steps.tile, layout.row),
                worth_streaming(nest, layout, steps)};
  const std::int64_t tiles = layout.rows * job.tiles_in_row();
  const auto run_part = [&](std::int64_t first, std::int64_t last) {
    this_threads_worker().run(job, first, last);
    if (job.stream) __builtin_ia32_sfence();
  };
  const double work = static_cast<double>(nest.numel) * steps.cost;
  if (work < worth_threads_ns || tiles == 1) return run_part(0, tiles);
  const std::int64_t threads = tbb::this_task_arena::max_concurrency();
  const std::int64_t chunks = std::min({tiles, static_cast<std::int64_t>(work / chunk_ns), 8 * threads});
  if (threads == 1) return run_part(0, tiles);
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, chunks), [&](const tbb::blocked_range<std::int64_t>& part) {
    run_part(part.begin() * tiles / chunks, part.end() * tiles / chunks);
  });
}

}  // namespace sinter::inline v1::jit::cpu
