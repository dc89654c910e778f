#include "row_scheme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>

#include "row_cache.hpp"
#include "row_passes.hpp"

namespace sinter::inline v1::jit {
namespace {

/// The number of multiprocessors of a large GPU. A constant, since otherwise the order of sums would depend on the GPU.
constexpr std::int64_t multiprocessors = 128;
constexpr std::int64_t all_threads = multiprocessors * 2048;
constexpr int registers = 65536;       // per multiprocessor
constexpr int other_words = 24;        // registers per thread for addresses and counters
constexpr int most_kept_words = 32;    // per thread
constexpr int most_shared = 40 << 10;  // bytes of static shared memory; the limit is 48 KiB
constexpr int most_steps = 32;
constexpr std::int64_t worth_sharing = 65536;  // columns: from here on, splitting rows outweighs an additional launch
constexpr std::int64_t smallest_part = 16384;  // columns per split
constexpr std::int64_t smallest_column_part = 32;  // per thread

RowOverride overriding;

std::int64_t over(std::int64_t a, std::int64_t b) noexcept { return (a + b - 1) / b; }
std::int64_t power_above(std::int64_t n) noexcept {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}
/// At most 2^30.
int power_below(std::int64_t n) noexcept {
  return static_cast<int>(std::bit_floor(static_cast<std::uint32_t>(std::clamp<std::int64_t>(n, 1, 1 << 30))));
}

int all_part_bytes(const RowTraits& t) noexcept {
  int bytes = 0;
  for (const int b : t.part_bytes) bytes += b;
  return std::max(bytes, t.loop_part_bytes);
}

/// The number of vectors that each thread can keep in registers; 0 if none.
int most_kept(const RowTraits& t, int threads, int lanes, int rows_of_thread) noexcept {
  const int largest = t.part_bytes.empty() ? 0 : *std::ranges::max_element(t.part_bytes);
  const int left = registers / std::max(threads, 256) - other_words - t.live_words - rows_of_thread * largest / 4;
  const int words = std::max(1, lanes * t.kept_bytes / 4);
  const int most = std::min(left, most_kept_words) / words;
  return most < 1 ? 0 : std::min(power_below(most), most_steps);
}

/// The number of vectors that a loop loads before it uses the first one.
int loop_steps(const RowTraits& t, int lanes) noexcept {
  return std::min(lanes > 1 ? 4 : 8, power_below(8 / std::max(t.streams, 1)));
}

bool block_has_room(const RowTraits& t) noexcept { return 2 * 32 * all_part_bytes(t) <= most_shared; }

/// With a row in shared memory, often only one block fits on a multiprocessor, so no other block hides memory latency:
/// use as many threads as possible, unless their smaller register budget reduces the number of bytes in flight, or long
/// functions would spill.
void row_cache(RowConfig& text, const RowTraits& t, int lanes) noexcept {
  constexpr int threads = 1024;
  text.row_cache = true;
  const int left =
      registers / threads - other_words - t.live_words - 2 * t.loop_part_bytes / 4;  // without partial results
  const int steps = left / (2 * lanes * t.stream_words);  // elements and values computed from them
  const bool is_wide = t.stream_words > t.streams;        // functions of doubles need many registers
  if (is_wide || t.calls_long_functions || steps * threads < text.steps * text.block) return;
  text.block = threads, text.steps = std::min(text.steps, power_below(steps));
}

/// For rows whose elements are adjacent in memory.
RowScheme choose_along(const RowTraits& t, const RowSizes& s) noexcept {
  const int lanes = s.lanes;
  const std::int64_t vectors = s.columns / lanes;
  RowConfig text{.tail = s.columns % lanes != 0};
  const auto keep = [&](int team, int block, std::int64_t steps) {
    text.team = team, text.block = block, text.steps = static_cast<int>(steps), text.kept = true;
    return RowScheme{text, lanes};
  };
  const int of_lane = most_kept(t, 256, lanes, 1);
  if (vectors <= 64 && of_lane >= 2)
    return vectors <= 1 ? keep(1, 256, 1) : keep(static_cast<int>(power_above(over(vectors, 2))), 256, 2);
  const bool many_rows = s.rows >= 8 * multiprocessors;  // enough to fill the GPU with one warp per row
  if (over(vectors, 32) <= of_lane && (many_rows || !block_has_room(t)))
    return keep(32, 256, power_above(over(vectors, 32)));
  if (!block_has_room(t)) {
    text.team = 32, text.steps = loop_steps(t, lanes);
    return {text, lanes};
  }
  const int many = most_kept(t, 512, lanes, 1), few = std::max(many / 2, 1), fewer = std::max(many / 4, 1);
  if (many > 0 && !many_rows && over(vectors, fewer) <= 256) return keep(0, 512, fewer);
  if (many > 0 && over(vectors, few) <= 512) return keep(0, 512, few);
  if (many > 0 && over(vectors, many) <= 512) return keep(0, 512, many);
  const int most = most_kept(t, 1024, lanes, 1);
  if (t.passes > 1 && most > 0 && over(vectors, most) <= 1024 && !s.strided) return keep(0, 1024, most);
  text.block = t.passes > 1 ? 512 : 256;
  text.steps = loop_steps(t, lanes);
  text.split = !t.part_bytes.empty() && s.columns >= worth_sharing && s.rows * text.block * 2 <= all_threads;
  if (!text.split && row_cache_extent(s.columns, t.row_cache_bytes, variable_bytes(t), largest_shared) > 0)
    row_cache(text, t, lanes);
  return {text, lanes};
}

/// For rows that are adjacent to each other in memory.
RowScheme choose_across(const RowTraits& t, const RowSizes& s) noexcept {
  int block = 256;
  RowConfig text{.across = true};
  int lanes = std::min(s.lanes, 8);
  const auto has_room_for = [&](int threads, int of_thread) {
    return threads * of_thread * all_part_bytes(t) <= most_shared;
  };
  while (lanes > 1 && !has_room_for(block, lanes)) lanes /= 2;
  const bool has_room = has_room_for(block, lanes);
  for (int narrow = lanes; narrow >= 1; narrow /= 2)  // with fewer lanes, a thread can keep more elements of a row
    for (int team = 1; team <= (t.passes > 1 && has_room ? 32 : 1); team *= 2) {
      const std::int64_t steps = power_above(over(s.columns, team));
      if (steps > most_kept(t, block, narrow, narrow) || (t.passes == 1 && steps > 16)) continue;
      text.team = team, text.steps = static_cast<int>(steps), text.kept = true;
      return {text, narrow};
    }
  const auto tiles = [&] { return over(s.rows, std::int64_t{32} * lanes); };  // as wide as a warp
  while (lanes > 1 && tiles() < multiprocessors && over(s.rows, 32) >= multiprocessors / 2) lanes /= 2;
  if (tiles() < 4 * multiprocessors && s.columns >= 512 && has_room_for(1024, lanes)) block = text.block = 1024;
  const std::int64_t side = std::min<std::int64_t>(power_above(over(s.rows, lanes)), 32);
  text.team = has_room ? block / static_cast<int>(side) : 1;
  if (side == 32) text.team = std::min(text.team, power_below(s.columns / 4));
  text.steps = loop_steps(t, lanes);
  const std::int64_t all_tiles = over(s.rows, block / text.team * lanes);
  text.split = has_room && !t.part_bytes.empty() && all_tiles * block * 4 <= all_threads &&
               s.columns >= 2 * smallest_column_part * text.team;
  return {text, lanes};
}

/// Whether no thread of a team is without a vector in some step. A team that is the block has threads as they are
/// needed, whole warps.
bool fits_exactly(const RowScheme& scheme, std::int64_t columns) noexcept {
  const RowConfig& text = scheme.text;
  if (!text.kept || text.tail) return false;
  const std::int64_t vectors = text.across ? columns : columns / scheme.lanes;
  return text.team > 0 ? vectors == std::int64_t{text.team} * text.steps
                       : vectors > 0 && vectors % (32 * text.steps) == 0;
}

/// The override, as far as the sizes allow it.
RowScheme overridden(const RowSizes& s) noexcept {
  RowScheme scheme{overriding.text, std::min(overriding.lanes, s.lanes)};
  RowConfig& text = scheme.text;
  const std::int64_t vectors = text.across ? s.columns : s.columns / scheme.lanes;
  text.tail = !text.across && s.columns % scheme.lanes != 0;
  if (text.kept) {
    const std::int64_t steps = power_above(over(vectors, text.team == 0 ? text.block : text.team));
    text.kept = steps <= most_steps;
    if (text.kept) text.steps = static_cast<int>(steps);
  }
  return scheme;
}

}  // namespace

RowTraits::RowTraits(const Kernel& kernel) {
  const RowPasses w(kernel);
  passes = static_cast<int>(w.passes.size());
  writes_elements = w.writes_elements;
  live_words = live_bytes(kernel.graph) / 4;
  calls_long_functions =
      std::ranges::any_of(kernel.graph.nodes(), [](const Node& n) { return is_long_function(n.op); });
  kept_bytes = streams = 0;
  std::vector<int> bytes(kernel.inputs.size());
  for (const Node& n : kernel.graph.nodes())
    if (n.op == Op::leaf) bytes[n.attribute] = static_cast<int>(size_of(n.dtype));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (w.is_kept(i)) kept_bytes += std::max(bytes[i], 4);  // narrow elements are kept unpacked
  bool reads_rows = false, writes_rows = false;
  for (std::size_t k = 0; k < kernel.rows->indexing.size(); ++k)
    if (kernel.rows->indexing[k] != Indexing::Domain) (k < kernel.outputs.size() ? writes_rows : reads_rows) = true;
  shares_rows = !(writes_elements && writes_rows && reads_rows);
  for (const RowPass& pass : w.passes) {
    int words = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (pass.inputs[i]) words += std::max(bytes[i], 4) / 4;
    streams = std::max(streams, static_cast<int>(std::ranges::count(pass.inputs, true)));
    stream_words = std::max(stream_words, words);
  }
  for (int stage = 0; stage < w.stages.count; ++stage) part_bytes.push_back(part_size(w, stage, true));
  const RowPasses looped(kernel, true);
  loop_stages = looped.stages.count;
  for (int stage = 0; stage < loop_stages; ++stage) loop_part_bytes += part_size(looped, stage, true);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    read_again.push_back(looped.reads(i) > 1);
    if (read_again[i]) row_cache_bytes += bytes[i];
  }
}

RowScheme choose_rows(const RowTraits& traits, const RowSizes& sizes) noexcept {
  RowScheme scheme = overriding.part > 0 ? overridden(sizes)
                     : sizes.across      ? choose_across(traits, sizes)
                                         : choose_along(traits, sizes);
  scheme.text.exact = fits_exactly(scheme, sizes.columns);
  return scheme;
}

RowGrid row_grid(const RowScheme& scheme, std::int64_t rows, std::int64_t columns) noexcept {
  const RowConfig& text = scheme.text;
  const std::int64_t vectors = text.across ? columns : columns / scheme.lanes;
  RowGrid grid{.block = static_cast<unsigned>(text.block)};
  if (text.team == 0 && text.kept)
    grid.block =
        static_cast<unsigned>(std::clamp<std::int64_t>(over(over(vectors, text.steps), 32) * 32, 32, text.block));
  const std::int64_t teams = text.team == 0 ? 1 : text.block / text.team;
  grid.tiles = over(rows, text.across ? teams * scheme.lanes : teams);
  if (!text.split) return grid;
  const std::int64_t team = text.team == 0 ? text.block : text.team;
  const std::int64_t smallest = overriding.part > 0 ? overriding.part
                                : text.across       ? smallest_column_part * team
                                                    : smallest_part / scheme.lanes;
  const std::int64_t most = std::max<std::int64_t>(all_threads / text.block / std::max<std::int64_t>(grid.tiles, 1), 1);
  const std::int64_t splits = std::clamp<std::int64_t>(vectors / smallest, 1, most);
  grid.part = std::max<std::int64_t>(over(over(vectors, splits), team) * team, 1);
  grid.splits = std::max<std::int64_t>(over(vectors, grid.part), 1);
  return grid;
}

std::string describe(const RowScheme& scheme, const RowGrid& grid, bool cached) {
  const RowConfig& text = scheme.text;
  const unsigned team = text.team == 0 ? grid.block : static_cast<unsigned>(text.team);
  return fmt::format("{} of {} for {}, {}{}", team == 1 ? "one thread" : fmt::format("{} threads", team), grid.block,
                     !text.across        ? "a row"
                     : scheme.lanes == 1 ? "a column"
                                         : fmt::format("{} columns", scheme.lanes),
                     text.kept ? "which is kept in registers"
                     : cached  ? "which is kept in shared memory"
                               : "which every pass reads",
                     grid.splits > 1 ? fmt::format("; {} blocks share it", grid.splits) : "");
}

void override_rows(const RowOverride& w) noexcept { overriding = w; }

const RowConfig* overriding_rows() noexcept { return overriding.part > 0 ? &overriding.text : nullptr; }

}  // namespace sinter::inline v1::jit
