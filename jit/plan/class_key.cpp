#include "class_key.hpp"

#include <algorithm>
#include <bit>

#include "faults.hpp"

namespace sinter::inline v1::jit {
namespace {

constexpr int vector_bytes = 16;
/// Registers (of 255) that operands and live values may take before a thread handles fewer elements at once.
constexpr int register_budget = 128;
/// Compile time, in milliseconds or so, past which a thread handles fewer elements at once: such a kernel is bound by
/// arithmetic, and the compiler unrolls the lanes.
constexpr int compile_budget = 1200;

/// What an operation on one element adds to it.
int compile_cost(Op op) noexcept { return has(op, LargeCode) ? 40 : is_function(op) ? 4 : 1; }

int lanes_for(const KernelTraits& traits, const Graph& graph) {
  std::size_t widest = 1;
  int registers = 0;
  for (const KernelTraits::Access& o : traits.operands) {
    if (o.array || o.per_row) continue;
    if (o.memory) widest = std::max(widest, size_of(o.dtype));
    registers += size_of(o.dtype) > 4 ? 2 : 1;
  }
  const int live = live_bytes(graph) / 4;
  int cost = 0;
  for (const Node& n : graph.nodes()) cost += compile_cost(n.op);
  int lanes = vector_bytes / static_cast<int>(widest);
  // The text holds the operations once more, for the elements past the last vector.
  while (lanes > 1 && (lanes * registers + live > register_budget || (lanes + 1) * cost > compile_budget)) lanes /= 2;
  return lanes;
}

/// Bits of a key's head, above those of set_head, that hold a RowConfig.
constexpr int rows_at = 18;

/// Whether all offsets into the operand fit in 31 bits.
bool is_narrow(const LoopNest& nest, const NestOperand& o) noexcept {
  std::int64_t reach = 0;
  for (int d = 0; d < nest.ndim; ++d) {
    const std::int64_t stride = o.strides[d] < 0 ? -o.strides[d] : o.strides[d];
    if (stride >= narrow_limit) return false;  // extents are below the limit, so products do not overflow
    reach += stride * (nest.extents[d] - 1);
    if (reach >= narrow_limit) return false;
  }
  return true;
}

/// How an operand lies over a nest of several dims, and what all its strides but the innermost have in common.
struct Lie {
  Pattern pattern;
  std::int64_t outer_bits;  // of all outer strides
  bool within;              // no stride is larger than a linear operand's, so offsets are below the nest's numel
};

/// `steps` are the strides of a linear operand.
Lie lie_of(const LoopNest& nest, const NestOperand& o, const std::int64_t* steps) noexcept {
  const int inner = nest.ndim - 1;
  std::int64_t outer_bits = 0, differs = 0;
  bool within = o.strides[inner] == 0 || o.strides[inner] == 1;
  for (int d = 0; d < inner; ++d) {
    outer_bits |= o.strides[d];
    differs |= o.strides[d] ^ steps[d];
    within &= static_cast<std::uint64_t>(o.strides[d]) <= static_cast<std::uint64_t>(steps[d]);
  }
  switch (o.strides[inner]) {
    case 1: return {differs ? Pattern::Rows : Pattern::Linear, outer_bits, within};
    case 0: return {outer_bits ? Pattern::RowUniform : Pattern::Uniform, outer_bits, within};
    default: return {Pattern::Strided, outer_bits, within};
  }
}

}  // namespace

KernelTraits::KernelTraits(const Kernel& kernel)
    : outputs(static_cast<int>(kernel.outputs.size())), faults(faults_of(kernel.graph)) {
  const Graph& graph = kernel.graph;
  for (const Operand output : graph.outputs()) operands.push_back({graph[output].dtype, true, 0});
  operands.resize(kernel.outputs.size() + kernel.inputs.size(), Access{DType::Bool, true, 0});
  for (const Node& n : graph.nodes())
    if (n.op == Op::leaf || n.op == Op::index || n.op == Op::array)
      operands[kernel.outputs.size() + n.attribute] = {n.dtype, n.op != Op::index, 0, n.op == Op::array};
  if (kernel.rows) {
    for (std::size_t k = 0; k < operands.size(); ++k)
      operands[k].per_row = kernel.rows->indexing[k] != Indexing::Domain;
    for (const std::uint32_t k : kernel.arrays) operands[k].per_row = true;
    rows.emplace(kernel);
  }
  lanes = lanes_for(*this, graph);
  for (Access& o : operands)
    o.misalignment = o.memory && !o.array ? static_cast<std::uintptr_t>(lanes) * size_of(o.dtype) - 1 : 0;
}

KernelClass ClassKey::decode(std::size_t operands) const {
  KernelClass c{ndim(), lanes(), wide(), aliased(), {}};
  for (std::size_t k = 0; k < operands; ++k) c.patterns.push_back(pattern(k));
  auto bits = [&, at = rows_at](int count) mutable {
    const auto value = static_cast<int>(words_[0] >> at & ((1u << count) - 1));
    at += count;
    return value;
  };
  c.tile_dim = tile_dim();
  c.reduced = bits(4);
  if (c.reduced == 0) return c;
  c.rows.across = bits(1);
  c.rows.team = 1 << bits(4) >> 1;
  c.rows.block = 1 << bits(4);
  c.rows.steps = 1 << bits(4);
  c.rows.kept = bits(1);
  c.rows.exact = bits(1);
  c.rows.split = bits(1);
  c.rows.tail = bits(1);
  c.rows.row_cache = bits(1);
  return c;
}

void ClassKey::set_rows(const RowConfig& t, int reduced) noexcept {
  auto add = [&, at = rows_at](auto value, int count) mutable {
    words_[0] |= static_cast<std::uint64_t>(value) << at;
    at += count;
  };
  const auto log2 = [](int power) { return std::countr_zero(static_cast<unsigned>(power)); };
  add(reduced, 4);
  add(t.across, 1);
  add(t.team == 0 ? 0 : 1 + log2(t.team), 4);
  add(log2(t.block), 4);
  add(log2(t.steps), 4);
  add(t.kept, 1);
  add(t.exact, 1);
  add(t.split, 1);
  add(t.tail, 1);
  add(t.row_cache, 1);
}

namespace {

/// All operands contiguous: most evaluations.
ClassKey classify_linear(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept {
  ClassKey key;
  std::uintptr_t misaligned = 0;
  for (std::size_t k = 0; k < nest.operands.size(); ++k)
    misaligned |= reinterpret_cast<std::uintptr_t>(nest.operands[k].data) & traits.operands[k].misalignment;
  key.set_linear(nest.operands.size());
  key.set_head(1, misaligned ? 1 : traits.lanes, nest.numel >= narrow_limit, aliased);
  return key;
}

/// One dim.
ClassKey classify_line(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept {
  ClassKey key;
  std::uintptr_t misaligned = 0;
  bool wide = nest.numel >= narrow_limit, scattered = false;
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    const NestOperand& o = nest.operands[k];
    const std::int64_t stride = o.strides[0];
    const Pattern p = stride == 1 ? Pattern::Linear : stride == 0 ? Pattern::Uniform : Pattern::Strided;
    key.set_pattern(k, p);
    if (p == Pattern::Linear) misaligned |= reinterpret_cast<std::uintptr_t>(o.data) & traits.operands[k].misalignment;
    if (p == Pattern::Strided && !wide) wide = !is_narrow(nest, o);
    scattered |= p != Pattern::Linear && static_cast<int>(k) < nest.outputs;
  }
  key.set_head(1, misaligned || scattered ? 1 : traits.lanes, wide, aliased);
  return key;
}

}  // namespace

ClassKey classify_untiled(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept {
  if (traits.rows) return classify_rows(traits, nest, aliased);
  if (nest.linear) return classify_linear(traits, nest, aliased);
  if (nest.ndim == 1) return classify_line(traits, nest, aliased);
  std::int64_t steps[max_ndim];
  std::int64_t step = 1;
  for (int d = nest.ndim - 1; d >= 0; step *= nest.extents[d--]) steps[d] = step;
  ClassKey key;
  bool wide = nest.numel >= narrow_limit;
  std::int64_t misaligned = nest.extents[nest.ndim - 1] & (traits.lanes - 1);
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    const NestOperand& o = nest.operands[k];
    const auto [pattern, outer_bits, within] = lie_of(nest, o, steps);
    key.set_pattern(k, pattern);
    const std::uintptr_t misalignment = traits.operands[k].misalignment;
    if (pattern == Pattern::Linear || pattern == Pattern::Rows)
      misaligned |= static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(o.data) & misalignment) |
                    (misalignment ? outer_bits & (traits.lanes - 1) : 0);
    else
      misaligned |= static_cast<int>(k) < nest.outputs;  // vectors are not scattered
    if (!within && !wide) wide = !is_narrow(nest, o);
  }
  key.set_head(nest.ndim, misaligned ? 1 : traits.lanes, wide, aliased);
  return key;
}

namespace {

/// Fewer elements do not fill a GPU with tiles.
constexpr std::int64_t fewest_tiled = 1 << 18;
/// Inputs of which a thread holds a tile.
constexpr int most_tiled = 3;

/// The dim along which the operand's elements follow each other; -1 where there is none but the innermost.
int crossed_dim(const LoopNest& nest, const NestOperand& o) noexcept {
  for (int d = 0; d < nest.ndim - 1; ++d)
    if (o.strides[d] == 1) return d;
  return -1;
}

/// Whether vectors along `dim` are aligned.
bool is_aligned(const LoopNest& nest, const NestOperand& o, int dim, int lanes, std::size_t bytes) noexcept {
  std::int64_t misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(o.data) & (lanes * bytes - 1));
  for (int d = 0; d < nest.ndim; ++d)
    if (d != dim) misaligned |= o.strides[d] & (lanes - 1);
  return misaligned == 0;
}

void choose_tile(const KernelTraits& traits, const LoopNest& nest, ClassKey& key) noexcept {
  const int lanes = std::min(key.lanes(), 4), inner = nest.ndim - 1;
  int dim = -1, tiled = 0;
  for (std::size_t k = static_cast<std::size_t>(nest.outputs); k < nest.operands.size(); ++k) {
    if (traits.operands[k].array || key.pattern(k) == Pattern::Uniform) continue;
    ++tiled;
    if (key.pattern(k) != Pattern::Strided || !traits.operands[k].memory) continue;
    const NestOperand& o = nest.operands[k];
    const int crossed = crossed_dim(nest, o);
    if (crossed < 0 || (dim >= 0 && crossed != dim)) continue;
    if (!is_aligned(nest, o, crossed, lanes, size_of(traits.operands[k].dtype))) continue;
    dim = crossed;
    key.replace_pattern(k, Pattern::Crossed);
  }
  if (dim < 0) return;
  const bool fits = nest.extents[inner] % (warp_tiles_along * lanes) == 0 &&
                    nest.extents[dim] % (warp_tiles_across * lanes) == 0 && nest.numel >= fewest_tiled;
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    if (!fits || tiled > most_tiled) {
      if (key.pattern(k) == Pattern::Crossed) key.replace_pattern(k, Pattern::Strided);
    } else if (key.pattern(k) == Pattern::Linear) {
      key.replace_pattern(k, Pattern::Rows);  // rows of tiles are apart
    }
  }
  if (fits && tiled <= most_tiled) key.set_tile(dim, lanes);
}

}  // namespace

ClassKey classify(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept {
  ClassKey key = classify_untiled(traits, nest, aliased);
  if (!traits.rows && nest.ndim > 1 && key.lanes() > 1) choose_tile(traits, nest, key);
  return key;
}

KernelClass generic_class(const KernelTraits& traits) {
  KernelClass c{max_ndim, 1, true, true, {}};
  for (const KernelTraits::Access& o : traits.operands)
    c.patterns.push_back(o.array || o.per_row ? Pattern::Uniform : Pattern::Strided);
  if (!traits.rows) return c;
  c.ndim = 2 * max_ndim;
  c.reduced = max_ndim;
  c.rows = {.block = 256, .steps = 1};
  return c;
}

}  // namespace sinter::inline v1::jit
