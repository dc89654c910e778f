#include "class_key.hpp"

#include <algorithm>

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
int compile_cost(const Node& n) noexcept {
  switch (n.op) {
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::pow:
    case Op::fmod:
    case Op::remainder:
    case Op::floor_divide: return 40;
    default: return is_function(n.op) ? 4 : 1;
  }
}

int lanes_for(const KernelTraits& traits, const Graph& graph) {
  std::size_t widest = 1;
  int registers = 0;
  for (const KernelTraits::Access& o : traits.operands) {
    if (o.memory) widest = std::max(widest, size_of(o.dtype));
    registers += size_of(o.dtype) > 4 ? 2 : 1;
  }
  const int live = live_bytes(graph) / 4;
  int cost = 0;
  for (const Node& n : graph.nodes()) cost += compile_cost(n);
  int lanes = vector_bytes / static_cast<int>(widest);
  // The text holds the operations once more, for the elements past the last vector.
  while (lanes > 1 && (lanes * registers + live > register_budget || (lanes + 1) * cost > compile_budget)) lanes /= 2;
  return lanes;
}

constexpr std::int64_t narrow_limit = std::int64_t{1} << 31;

/// Whether all offsets into the operand fit in 31 bits.
bool is_narrow(const LoopNest& nest, const NestOperand& o) noexcept {
  std::int64_t reach = 0;
  for (int d = 0; d < nest.rank; ++d) {
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
  const int inner = nest.rank - 1;
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
    : outputs(static_cast<int>(kernel.outputs.size())), may_fault(jit::may_fault(kernel.graph)) {
  const Graph& graph = kernel.graph;
  for (const Operand output : graph.outputs()) operands.push_back({graph[output].dtype, true, 0});
  operands.resize(kernel.outputs.size() + kernel.inputs.size(), Access{DType::Bool, true, 0});
  for (const Node& n : graph.nodes())
    if (n.op == Op::leaf || n.op == Op::index)
      operands[kernel.outputs.size() + n.attribute] = {n.dtype, n.op == Op::leaf, 0};
  lanes = lanes_for(*this, graph);
  for (Access& o : operands) o.misalignment = o.memory ? static_cast<std::uintptr_t>(lanes) * size_of(o.dtype) - 1 : 0;
}

KernelClass ClassKey::decode(std::size_t operands) const {
  KernelClass c{rank(), lanes(), wide(), aliased(), {}};
  for (std::size_t k = 0; k < operands; ++k) c.patterns.push_back(pattern(k));
  return c;
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

ClassKey classify(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept {
  if (nest.linear) return classify_linear(traits, nest, aliased);
  if (nest.rank == 1) return classify_line(traits, nest, aliased);
  std::int64_t steps[max_rank];
  std::int64_t step = 1;
  for (int d = nest.rank - 1; d >= 0; step *= nest.extents[d--]) steps[d] = step;
  ClassKey key;
  bool wide = nest.numel >= narrow_limit;
  std::int64_t misaligned = nest.extents[nest.rank - 1] & (traits.lanes - 1);
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
  key.set_head(nest.rank, misaligned ? 1 : traits.lanes, wide, aliased);
  return key;
}

KernelClass generic_class(const KernelTraits& traits) {
  return {max_rank, 1, true, true, std::vector<Pattern>(traits.operands.size(), Pattern::Strided)};
}

}  // namespace sinter::inline v1::jit
