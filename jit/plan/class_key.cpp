#include "class_key.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "faults.hpp"

namespace sinter::inline v1::jit {
namespace {

/// The vectors that a thread may load of an input from which only positions are computed. Usually a row shares one
/// position, so this costs little.
constexpr std::size_t vectors_of_positions = 4;
/// Registers (of 255) that operands and live values may take before a thread handles fewer elements at once.
constexpr int register_budget = 128;
/// Compile time, in milliseconds or so, past which a thread handles fewer elements at once: such a kernel is bound by
/// arithmetic, and the compiler unrolls the vector loops.
constexpr int compile_budget = 1200;

/// What an operation on one element adds to it.
int compile_cost(Op op) noexcept { return has(op, SlowToCompile) ? 40 : is_function(op) ? 4 : 1; }

/// The inputs from which more than positions are computed.
std::vector<bool> inputs_of_values(const Kernel& kernel) {
  const Graph& graph = kernel.graph;
  std::vector<bool> found(kernel.inputs.size()), is_value(graph.nodes().size());
  for (const Operand o : graph.outputs()) is_value[static_cast<std::size_t>(o.node)] = true;
  for (std::size_t i = is_value.size(); i-- > 0;) {
    const Node& n = graph.nodes()[i];
    if (!is_value[i]) continue;
    if (n.op == Op::leaf) found[n.attribute] = true;
    const auto operands = graph.operands(n);
    for (const Operand o : operands.first(n.op == Op::load ? 1 : operands.size()))
      is_value[static_cast<std::size_t>(o.node)] = true;
  }
  return found;
}

int vector_width_for(const KernelTraits& traits, const Kernel& kernel) {
  const Graph& graph = kernel.graph;
  const std::vector<bool> is_value = inputs_of_values(kernel);
  std::size_t widest = 1;
  int registers = 0;
  for (std::size_t k = 0; k < traits.operands.size(); ++k) {
    const KernelTraits::Access& o = traits.operands[k];
    if (o.array || o.per_row) continue;
    // The row cache aligns inputs to 16 bytes.
    const bool position = !kernel.rows && k >= kernel.outputs.size() && !is_value[k - kernel.outputs.size()];
    if (o.memory) widest = std::max(widest, size_of(o.dtype) / (position ? vectors_of_positions : 1));
    registers += size_of(o.dtype) > 4 ? 2 : 1;
  }
  const int live = live_bytes(graph) / 4;
  int cost = 0;
  for (const Node& n : graph.nodes()) cost += compile_cost(n.op);
  int width = max_vector_bytes / static_cast<int>(widest);
  // The text holds the operations once more, for the elements past the last vector.
  while (width > 1 && (width * registers + live > register_budget || (width + 1) * cost > compile_budget)) width /= 2;
  return width;
}

/// Bits of a key's head, above those of set_head, that hold a RowConfig.
constexpr int rows_at = 18;

/// Whether all offsets into the operand fit in 31 bits.
bool is_narrow(const LoopNest& nest, const NestOperand& o) noexcept {
  std::int64_t reach = 0;
  for (int d = 0; d < nest.ndim; ++d) {
    const std::int64_t stride = std::abs(o.strides[d]);
    if (stride >= narrow_limit) return false;  // extents are below the limit, so products do not overflow
    reach += stride * (nest.extents[d] - 1);
    if (reach >= narrow_limit) return false;
  }
  return true;
}

/// The layout of an operand over a nest of several dims.
struct NestLayout {
  AccessPattern pattern;
  std::int64_t outer_bits;  // of all strides except the innermost one
  bool within;              // no stride is larger than a contiguous operand's, so offsets are below the nest's numel
};

/// `steps` are the strides of a contiguous operand.
NestLayout layout_of(const LoopNest& nest, const NestOperand& o, const std::int64_t* steps) noexcept {
  const int inner = nest.ndim - 1;
  std::int64_t outer_bits = 0, differs = 0;
  bool within = o.strides[inner] == 0 || o.strides[inner] == 1;
  for (int d = 0; d < inner; ++d) {
    outer_bits |= o.strides[d];
    differs |= o.strides[d] ^ steps[d];
    within &= static_cast<std::uint64_t>(o.strides[d]) <= static_cast<std::uint64_t>(steps[d]);
  }
  switch (o.strides[inner]) {
    case 1: return {differs ? AccessPattern::InnerContiguous : AccessPattern::Contiguous, outer_bits, within};
    case 0: return {outer_bits ? AccessPattern::InnerBroadcast : AccessPattern::Uniform, outer_bits, within};
    default: return {AccessPattern::Strided, outer_bits, within};
  }
}

}  // namespace

KernelTraits::KernelTraits(const Kernel& kernel)
    : outputs(static_cast<int>(kernel.outputs.size())), faults(faults_of(kernel.graph)) {
  const Graph& graph = kernel.graph;
  for (const Operand output : graph.outputs()) operands.push_back({.dtype = graph[output].dtype});
  operands.resize(kernel.outputs.size() + kernel.inputs.size());
  for (const Node& n : graph.nodes()) {
    if (is_leaf(n.op)) operands[kernel.outputs.size() + n.attribute] = {n.dtype, n.op != Op::iota, n.op == Op::array};
    if (!is_random(n.op)) continue;
    const Node& index = graph[graph.operands(n)[0]];
    if (index.op == Op::iota) has_draws = operands[kernel.outputs.size() + index.attribute].is_draw_index = true;
  }
  if (kernel.rows) {
    for (std::size_t k = 0; k < operands.size(); ++k)
      operands[k].per_row = kernel.rows->axis_mapping[k] != AxisMapping::Domain;
    for (const std::uint32_t k : kernel.arrays) operands[k].per_row = true;
    rows.emplace(kernel);
  }
  vector_width = vector_width_for(*this, kernel);
  for (Access& o : operands)
    o.alignment_mask = o.memory && !o.array ? static_cast<std::uintptr_t>(vector_width) * size_of(o.dtype) - 1 : 0;
}

KernelClass ClassKey::decode(std::size_t operands) const {
  KernelClass c{ndim(), vector_width(), wide(), aliased(), {}};
  for (std::size_t k = 0; k < operands; ++k) c.patterns.push_back(pattern(k));
  c.contiguous =
      c.ndim == 1 && std::ranges::all_of(c.patterns, [](AccessPattern p) { return p == AccessPattern::Contiguous; });
  auto bits = [&, at = rows_at](int count) mutable {
    const auto value = static_cast<int>(words_[0] >> at & ((1u << count) - 1));
    at += count;
    return value;
  };
  c.tile_dim = tile_dim();
  c.reduced = bits(4);
  if (c.reduced == 0) return c;
  c.rows.row_per_element = bits(1);
  c.rows.team = 1 << bits(4) >> 1;
  c.rows.block = 1 << bits(4);
  c.rows.vectors_per_thread = 1 << bits(4);
  c.rows.in_registers = bits(1);
  c.rows.full_vectors = bits(1);
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
  add(t.row_per_element, 1);
  add(t.team == 0 ? 0 : 1 + log2(t.team), 4);
  add(log2(t.block), 4);
  add(log2(t.vectors_per_thread), 4);
  add(t.in_registers, 1);
  add(t.full_vectors, 1);
  add(t.split, 1);
  add(t.tail, 1);
  add(t.row_cache, 1);
}

namespace {

/// All operands contiguous: most evaluations.
ClassKey classify_contiguous(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept {
  ClassKey key;
  std::uintptr_t misaligned = 0;
  for (std::size_t k = 0; k < nest.operands.size(); ++k)
    misaligned |= reinterpret_cast<std::uintptr_t>(nest.operands[k].data) & traits.operands[k].alignment_mask;
  key.set_contiguous(nest.operands.size());
  key.set_head(1, misaligned ? 1 : traits.vector_width, nest.numel >= narrow_limit, aliased);
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
    const AccessPattern p = stride == 1   ? AccessPattern::Contiguous
                            : stride == 0 ? AccessPattern::Uniform
                                          : AccessPattern::Strided;
    key.set_pattern(k, p);
    if (p == AccessPattern::Contiguous)
      misaligned |= reinterpret_cast<std::uintptr_t>(o.data) & traits.operands[k].alignment_mask;
    if (p == AccessPattern::Strided && !wide) wide = !is_narrow(nest, o);
    scattered |= p != AccessPattern::Contiguous && static_cast<int>(k) < nest.outputs;
  }
  key.set_head(1, misaligned || scattered ? 1 : traits.vector_width, wide, aliased);
  return key;
}

/// Several dims.
ClassKey classify_dims(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept {
  std::int64_t steps[max_ndim];
  std::int64_t step = 1;
  for (int d = nest.ndim - 1; d >= 0; step *= nest.extents[d--]) steps[d] = step;
  ClassKey key;
  bool wide = nest.numel >= narrow_limit;
  std::int64_t misaligned = nest.extents[nest.ndim - 1] & (traits.vector_width - 1);
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    const NestOperand& o = nest.operands[k];
    const auto [pattern, outer_bits, within] = layout_of(nest, o, steps);
    key.set_pattern(k, pattern);
    const std::uintptr_t alignment_mask = traits.operands[k].alignment_mask;
    if (key.is_contiguous(k))
      misaligned |= static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(o.data) & alignment_mask) |
                    (alignment_mask ? outer_bits & (traits.vector_width - 1) : 0);
    else
      misaligned |= static_cast<int>(k) < nest.outputs;  // vectors are not scattered
    if (!within && !wide) wide = !is_narrow(nest, o);
  }
  key.set_head(nest.ndim, misaligned ? 1 : traits.vector_width, wide, aliased);
  return key;
}

}  // namespace

bool has_aligned_vectors(const LoopNest& nest, const NestOperand& o, int dim, int width, std::size_t bytes) noexcept {
  const auto steps = static_cast<std::int64_t>(width - 1);
  std::int64_t misaligned = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(o.data) & (width * bytes - 1));
  misaligned |= o.first & steps;
  for (int d = 0; d < nest.ndim; ++d)
    if (d != dim) misaligned |= o.strides[d] & steps;
  return misaligned == 0;
}

ClassKey classify_untiled(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept {
  if (traits.rows) return classify_rows(traits, nest, aliased);
  if (nest.contiguous && !traits.has_draws) return classify_contiguous(traits, nest, aliased);
  ClassKey key = nest.ndim == 1 ? classify_line(traits, nest, aliased) : classify_dims(traits, nest, aliased);
  if (!traits.has_draws || key.vector_width() == 1) return key;
  for (std::size_t k = static_cast<std::size_t>(nest.outputs); k < nest.operands.size(); ++k)
    if (traits.operands[k].is_draw_index && key.is_contiguous(k) &&
        !has_aligned_vectors(nest, nest.operands[k], nest.ndim - 1, key.vector_width(), 1))
      key.replace_pattern(k, AccessPattern::Strided);
  return key;
}

namespace {

/// With fewer elements, tiles do not fill a GPU.
constexpr std::int64_t min_tiled_elements = 1 << 18;
/// The number of inputs of which a thread holds a tile.
constexpr int max_tiled_inputs = 3;

/// The dim other than the innermost along which the operand is contiguous; -1 if there is none.
int transposed_dim(const LoopNest& nest, const NestOperand& o) noexcept {
  for (int d = 0; d < nest.ndim - 1; ++d)
    if (o.strides[d] == 1) return d;
  return -1;
}

void choose_tile(const KernelTraits& traits, const LoopNest& nest, ClassKey& key) noexcept {
  const int width = std::min(key.vector_width(), 4), inner = nest.ndim - 1;
  int dim = -1, tiled = 0;
  for (std::size_t k = static_cast<std::size_t>(nest.outputs); k < nest.operands.size(); ++k) {
    if (traits.operands[k].array || key.pattern(k) == AccessPattern::Uniform) continue;
    ++tiled;
    if (key.pattern(k) != AccessPattern::Strided || !traits.operands[k].memory) continue;
    const NestOperand& o = nest.operands[k];
    const int transposed = transposed_dim(nest, o);
    if (transposed < 0 || (dim >= 0 && transposed != dim)) continue;
    if (!has_aligned_vectors(nest, o, transposed, width, size_of(traits.operands[k].dtype))) continue;
    dim = transposed;
    key.replace_pattern(k, AccessPattern::Transposed);
  }
  if (dim < 0) return;
  const bool fits = nest.extents[inner] % (warp_tiles_inner * width) == 0 &&
                    nest.extents[dim] % (warp_tiles_tile_dim * width) == 0 && nest.numel >= min_tiled_elements;
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    if (!fits || tiled > max_tiled_inputs) {
      if (key.pattern(k) == AccessPattern::Transposed) key.replace_pattern(k, AccessPattern::Strided);
    } else if (key.pattern(k) == AccessPattern::Contiguous) {
      key.replace_pattern(k, AccessPattern::InnerContiguous);  // rows of tiles are not adjacent
    }
  }
  if (fits && tiled <= max_tiled_inputs) key.set_tile(dim, width);
}

}  // namespace

ClassKey classify(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept {
  ClassKey key = classify_untiled(traits, nest, aliased);
  if (!traits.rows && nest.ndim > 1 && key.vector_width() > 1) choose_tile(traits, nest, key);
  return key;
}

KernelClass generic_class(const KernelTraits& traits) {
  KernelClass c{max_ndim, 1, true, true, {}};
  for (const KernelTraits::Access& o : traits.operands)
    c.patterns.push_back(o.array || o.per_row ? AccessPattern::Uniform : AccessPattern::Strided);
  if (!traits.rows) return c;
  c.ndim = 2 * max_ndim;
  c.reduced = max_ndim;
  c.rows = {.block = 256, .vectors_per_thread = 1};
  return c;
}

}  // namespace sinter::inline v1::jit
