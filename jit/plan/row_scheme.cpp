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
constexpr int registers_per_multiprocessor = 65536;
constexpr int other_registers = 24;         // per thread, for addresses and counters
constexpr int max_row_registers = 32;       // per thread
constexpr int max_shared_bytes = 40 << 10;  // bytes of static shared memory; the limit is 48 KiB
constexpr int max_vectors_per_thread = 32;
constexpr std::int64_t min_columns_to_split = 65536;  // with more, splitting rows outweighs an additional launch
constexpr std::int64_t min_split_columns = 16384;
constexpr std::int64_t min_split_columns_per_thread = 32;  // if each vector element is its own row

RowOverride overriding;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept { return (a + b - 1) / b; }
std::int64_t power_above(std::int64_t n) noexcept {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}
/// At most 2^30.
int power_below(std::int64_t n) noexcept {
  return static_cast<int>(std::bit_floor(static_cast<std::uint32_t>(std::clamp<std::int64_t>(n, 1, 1 << 30))));
}

int all_partial_bytes(const RowTraits& t) noexcept {
  int bytes = 0;
  for (const int b : t.partial_bytes) bytes += b;
  return std::max(bytes, t.loop_partial_bytes);
}

/// The number of vectors that each thread can keep in registers; 0 if none.
int max_vectors_in_registers(const RowTraits& t, int threads, int width, int rows_of_thread) noexcept {
  const int largest = t.partial_bytes.empty() ? 0 : *std::ranges::max_element(t.partial_bytes);
  const int left = registers_per_multiprocessor / std::max(threads, 256) - other_registers - t.live_registers -
                   rows_of_thread * largest / 4;
  const int per_vector = std::max(1, width * t.row_register_bytes / 4);
  const int max = std::min(left, max_row_registers) / per_vector;
  return max < 1 ? 0 : std::min(power_below(max), max_vectors_per_thread);
}

/// The number of vectors that a loop loads before it uses the first one.
int loop_batch_size(const RowTraits& t, int width) noexcept {
  return std::min(width > 1 ? 4 : 8, power_below(8 / std::max(t.streams, 1)));
}

bool block_has_room(const RowTraits& t) noexcept { return 2 * 32 * all_partial_bytes(t) <= max_shared_bytes; }

/// Whether a thread of a block of 1024 has enough registers: long functions, and those of doubles, need more than 64.
bool may_have_1024_threads(const RowTraits& t) noexcept {
  return t.stream_registers <= t.streams && !t.calls_long_functions;
}

/// For rows that several passes read: with 1024 threads, few rows are in work at once, and what is read again is in the
/// L2 cache or, if the row fits, in shared memory. Not if shared memory leaves room for one block, whose threads then
/// have fewer bytes in flight.
void use_1024_threads(RowConfig& config, const RowTraits& t, int width) noexcept {
  constexpr int threads = 1024;
  if (!may_have_1024_threads(t)) return;
  if (!config.row_cache) {
    config.block = threads;
    return;
  }
  const int left = registers_per_multiprocessor / threads - other_registers - t.live_registers -
                   2 * t.loop_partial_bytes / 4;                   // without partial results
  const int batch_size = left / (2 * width * t.stream_registers);  // elements and values computed from them
  if (batch_size * threads < config.vectors_per_thread * config.block) return;
  config.block = threads, config.vectors_per_thread = std::min(config.vectors_per_thread, power_below(batch_size));
}

/// For rows whose elements are adjacent in memory.
RowScheme choose_contiguous(const RowTraits& t, const RowSizes& s) noexcept {
  const int width = s.vector_width;
  const std::int64_t vectors = s.columns / width;
  RowConfig config{.tail = s.columns % width != 0};
  const auto keep = [&](int team, int block, std::int64_t vectors_per_thread) {
    config.team = team, config.block = block, config.vectors_per_thread = static_cast<int>(vectors_per_thread),
    config.in_registers = true;
    return RowScheme{config, width};
  };
  const int per_thread = max_vectors_in_registers(t, 256, width, 1);
  if (vectors <= 64 && per_thread >= 2)
    return vectors <= 1 ? keep(1, 256, 1) : keep(static_cast<int>(power_above(ceil_div(vectors, 2))), 256, 2);
  const bool many_rows = s.rows >= 8 * multiprocessors;  // enough to fill the GPU with one warp per row
  if (ceil_div(vectors, 32) <= per_thread && (many_rows || !block_has_room(t)))
    return keep(32, 256, power_above(ceil_div(vectors, 32)));
  if (!block_has_room(t)) {
    config.team = 32, config.vectors_per_thread = loop_batch_size(t, width);
    return {config, width};
  }
  const int many = max_vectors_in_registers(t, 512, width, 1), few = std::max(many / 2, 1),
            fewer = std::max(many / 4, 1);
  if (many > 0 && !many_rows && ceil_div(vectors, fewer) <= 256) return keep(0, 512, fewer);
  // Few threads with many elements each, since each takes part in the block's reductions.
  if (many > 0 && many_rows && ceil_div(vectors, many) <= 256) return keep(0, 256, many);
  if (many > 0 && ceil_div(vectors, few) <= 512) return keep(0, 512, few);
  if (many > 0 && ceil_div(vectors, many) <= 512) return keep(0, 512, many);
  const int max = max_vectors_in_registers(t, 1024, width, 1);
  if (t.passes > 1 && max > 0 && ceil_div(vectors, max) <= 1024 && !s.strided) return keep(0, 1024, max);
  config.block = t.passes > 1 ? 512 : 256;
  config.vectors_per_thread = loop_batch_size(t, width);
  while (t.passes == 1 && config.block < (may_have_1024_threads(t) ? 1024 : 512) &&
         s.rows * config.block * 2 < all_threads)
    config.block *= 2;
  config.split =
      !t.partial_bytes.empty() && s.columns >= min_columns_to_split && s.rows * config.block * 4 <= all_threads;
  config.row_cache =
      !config.split && row_cache_extent(s.columns, t.row_cache_bytes, variable_bytes(t), largest_shared) > 0;
  if (!config.split && t.passes > 1) use_1024_threads(config, t, width);
  return {config, width};
}

/// For rows that are adjacent to each other in memory.
RowScheme choose_row_per_element(const RowTraits& t, const RowSizes& s) noexcept {
  int block = 256;
  RowConfig config{.row_per_element = true};
  int width = std::min(s.vector_width, 8);
  const auto has_room_for = [&](int threads, int of_thread) {
    return threads * of_thread * all_partial_bytes(t) <= max_shared_bytes;
  };
  while (width > 1 && !has_room_for(block, width)) width /= 2;
  const bool has_room = has_room_for(block, width);
  for (int narrow = width; narrow >= 1; narrow /= 2)  // with shorter vectors, a thread can keep more elements of a row
    for (int team = 1; team <= (t.passes > 1 && has_room ? 32 : 1); team *= 2) {
      const std::int64_t vectors_per_thread = power_above(ceil_div(s.columns, team));
      if (vectors_per_thread > max_vectors_in_registers(t, block, narrow, narrow) ||
          (t.passes == 1 && vectors_per_thread > 16))
        continue;
      config.team = team, config.vectors_per_thread = static_cast<int>(vectors_per_thread), config.in_registers = true;
      return {config, narrow};
    }
  const auto row_blocks = [&] { return ceil_div(s.rows, std::int64_t{32} * width); };  // as wide as a warp
  while (width > 1 && row_blocks() < multiprocessors && ceil_div(s.rows, 32) >= multiprocessors / 2) width /= 2;
  const int large = t.has_long_elements ? 512 : 1024;  // 64 registers are too few for these
  if (row_blocks() < 4 * multiprocessors && s.columns >= 512 && has_room_for(large, width))
    block = config.block = large;
  const std::int64_t teams = std::min<std::int64_t>(power_above(ceil_div(s.rows, width)), 32);
  config.team = has_room ? block / static_cast<int>(teams) : 1;
  if (teams == 32) config.team = std::min(config.team, power_below(s.columns / 4));
  config.vectors_per_thread = loop_batch_size(t, width);
  const std::int64_t all_row_blocks = ceil_div(s.rows, block / config.team * width);
  config.split = has_room && !t.partial_bytes.empty() && all_row_blocks * block * 4 <= all_threads &&
                 s.columns >= 2 * min_split_columns_per_thread * config.team;
  return {config, width};
}

/// Whether each thread of a team has exactly vectors_per_thread vectors. If the team is the block, the block has as
/// many warps as the row needs.
bool has_full_vectors(const RowScheme& scheme, std::int64_t columns) noexcept {
  const RowConfig& config = scheme.config;
  if (!config.in_registers || config.tail) return false;
  const std::int64_t vectors = config.row_per_element ? columns : columns / scheme.vector_width;
  return config.team > 0 ? vectors == std::int64_t{config.team} * config.vectors_per_thread
                         : vectors > 0 && vectors % (32 * config.vectors_per_thread) == 0;
}

/// The override, as far as the sizes allow it.
RowScheme overridden(const RowSizes& s) noexcept {
  RowScheme scheme{overriding.config, std::min(overriding.vector_width, s.vector_width)};
  RowConfig& config = scheme.config;
  const std::int64_t vectors = config.row_per_element ? s.columns : s.columns / scheme.vector_width;
  config.tail = !config.row_per_element && s.columns % scheme.vector_width != 0;
  if (config.in_registers) {
    const std::int64_t vectors_per_thread =
        power_above(ceil_div(vectors, config.team == 0 ? config.block : config.team));
    config.in_registers = vectors_per_thread <= max_vectors_per_thread;
    if (config.in_registers) config.vectors_per_thread = static_cast<int>(vectors_per_thread);
  }
  return scheme;
}

}  // namespace

RowTraits::RowTraits(const Kernel& kernel) {
  const RowPasses w(kernel);
  passes = static_cast<int>(w.passes.size());
  live_registers = live_bytes(kernel.graph) / 4;
  for (std::size_t i = 0; i < kernel.graph.nodes().size(); ++i) {
    if (!is_long_function(kernel.graph.nodes()[i].op)) continue;
    calls_long_functions = true;
    has_long_elements |= !w.stages.per_row[i];
  }
  row_register_bytes = streams = 0;
  std::vector<int> bytes(kernel.inputs.size());
  for (const Node& n : kernel.graph.nodes())
    if (n.op == Op::leaf) bytes[n.attribute] = static_cast<int>(size_of(n.dtype));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (w.keeps_in_registers(i)) row_register_bytes += std::max(bytes[i], 4);  // narrow elements are kept unpacked
  bool reads_rows = false, writes_rows = false;
  for (std::size_t k = 0; k < kernel.rows->axis_mapping.size(); ++k)
    if (kernel.rows->axis_mapping[k] != AxisMapping::Domain)
      (k < kernel.outputs.size() ? writes_rows : reads_rows) = true;
  const RowPasses looped(kernel, true);
  has_final_pass = looped.stages.has_final_pass;
  shares_rows = !(has_final_pass && writes_rows && reads_rows);
  for (const RowPass& pass : w.passes) {
    int registers = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (pass.inputs[i]) registers += std::max(bytes[i], 4) / 4;
    streams = std::max(streams, static_cast<int>(std::ranges::count(pass.inputs, true)));
    stream_registers = std::max(stream_registers, registers);
  }
  for (int stage = 0; stage < w.stages.count; ++stage) partial_bytes.push_back(partial_size(w, stage, true));
  loop_stages = looped.stages.count;
  for (int stage = 0; stage < loop_stages; ++stage) loop_partial_bytes += partial_size(looped, stage, true);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    read_again.push_back(looped.reads(i) > 1);
    if (read_again[i]) row_cache_bytes += bytes[i];
  }
}

RowScheme choose_rows(const RowTraits& traits, const RowSizes& sizes) noexcept {
  RowScheme scheme = overriding.min_split > 0 ? overridden(sizes)
                     : sizes.row_per_element  ? choose_row_per_element(traits, sizes)
                                              : choose_contiguous(traits, sizes);
  scheme.config.full_vectors = has_full_vectors(scheme, sizes.columns);
  return scheme;
}

RowGrid row_grid(const RowScheme& scheme, std::int64_t rows, std::int64_t columns) noexcept {
  const RowConfig& config = scheme.config;
  const std::int64_t vectors = config.row_per_element ? columns : columns / scheme.vector_width;
  RowGrid grid{.block = static_cast<unsigned>(config.block)};
  if (config.team == 0 && config.in_registers)
    grid.block = static_cast<unsigned>(
        std::clamp<std::int64_t>(ceil_div(ceil_div(vectors, config.vectors_per_thread), 32) * 32, 32, config.block));
  const std::int64_t teams = config.team == 0 ? 1 : config.block / config.team;
  grid.row_blocks = ceil_div(rows, config.row_per_element ? teams * scheme.vector_width : teams);
  if (!config.split) return grid;
  const std::int64_t team = config.team == 0 ? config.block : config.team;
  const std::int64_t min_vectors = overriding.min_split > 0 ? overriding.min_split
                                   : config.row_per_element ? min_split_columns_per_thread * team
                                                            : min_split_columns / scheme.vector_width;
  const std::int64_t max =
      std::max<std::int64_t>(all_threads / config.block / std::max<std::int64_t>(grid.row_blocks, 1), 1);
  const std::int64_t splits = std::clamp<std::int64_t>(vectors / min_vectors, 1, max);
  grid.vectors_per_split = std::max<std::int64_t>(ceil_div(ceil_div(vectors, splits), team) * team, 1);
  grid.splits = std::max<std::int64_t>(ceil_div(vectors, grid.vectors_per_split), 1);
  return grid;
}

std::string describe(const RowScheme& scheme, const RowGrid& grid, bool cached) {
  const RowConfig& config = scheme.config;
  const unsigned team = config.team == 0 ? grid.block : static_cast<unsigned>(config.team);
  return fmt::format("{} of {} for {}, {}{}", team == 1 ? "one thread" : fmt::format("{} threads", team), grid.block,
                     !config.row_per_element    ? "a row"
                     : scheme.vector_width == 1 ? "a column"
                                                : fmt::format("{} columns", scheme.vector_width),
                     config.in_registers ? "which is kept in registers"
                     : cached            ? "which is kept in shared memory"
                                         : "which every pass reads",
                     grid.splits > 1 ? fmt::format("; {} blocks share it", grid.splits) : "");
}

void override_rows(const RowOverride& w) noexcept { overriding = w; }

const RowConfig* overriding_rows() noexcept { return overriding.min_split > 0 ? &overriding.config : nullptr; }

}  // namespace sinter::inline v1::jit
