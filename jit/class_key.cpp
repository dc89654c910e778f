#include "class_key.hpp"

#include <algorithm>

namespace sinter::inline v1::jit {
namespace {

constexpr int vector_bytes = 16;
/// Registers (of 255) that operands and live values may take before a thread handles fewer elements at once.
constexpr int register_budget = 128;
/// Operations, over all lanes, past which a kernel is bound by arithmetic and only compiles longer for its lanes.
constexpr std::size_t lane_node_budget = 1200;

int lanes_for(const KernelTraits& traits, const Graph& graph) {
  std::size_t widest = 1;
  int registers = 0;
  for (const KernelTraits::Access& o : traits.operands) {
    if (o.memory) widest = std::max(widest, size_of(o.dtype));
    registers += size_of(o.dtype) > 4 ? 2 : 1;
  }
  const int live = live_bytes(graph) / 4;
  int lanes = vector_bytes / static_cast<int>(widest);
  while (lanes > 1 && (lanes * registers + live > register_budget ||
                       static_cast<std::size_t>(lanes) * graph.nodes().size() > lane_node_budget))
    lanes /= 2;
  return lanes;
}

/// Element k of a linear operand is k elements after its first.
bool is_linear(const LoopNest& nest, const NestOperand& o) noexcept {
  std::int64_t step = 1;
  for (int d = nest.rank - 1; d >= 0; --d) {
    if (o.strides[d] != step) return false;
    step *= nest.extents[d];
  }
  return true;
}

bool all_zero(const LoopNest& nest, const NestOperand& o) noexcept {
  for (int d = 0; d < nest.rank; ++d)
    if (o.strides[d] != 0) return false;
  return true;
}

Pattern pattern_of(const LoopNest& nest, const NestOperand& o) noexcept {
  const std::int64_t inner = o.strides[nest.rank - 1];
  if (inner == 1) return nest.rank == 1 || is_linear(nest, o) ? Pattern::Linear : Pattern::Rows;
  if (inner == 0) return nest.rank == 1 || all_zero(nest, o) ? Pattern::Uniform : Pattern::RowUniform;
  return Pattern::Strided;
}

/// Whether every vector of `lanes` elements of the operand is aligned.
bool is_aligned(const LoopNest& nest, const NestOperand& o, Pattern p, std::uintptr_t bytes, int lanes) noexcept {
  if (reinterpret_cast<std::uintptr_t>(o.data) & (bytes - 1)) return false;
  if (p == Pattern::Rows)
    for (int d = 0; d < nest.rank - 1; ++d)
      if (o.strides[d] & (lanes - 1)) return false;
  return true;
}

/// Whether all offsets into the operand fit in 31 bits.
bool is_narrow(const LoopNest& nest, const NestOperand& o) noexcept {
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  std::int64_t reach = 0;
  for (int d = 0; d < nest.rank; ++d) {
    std::int64_t step;
    if (__builtin_mul_overflow(o.strides[d] < 0 ? -o.strides[d] : o.strides[d], nest.extents[d] - 1, &step) ||
        step >= limit)
      return false;
    reach += step;
  }
  return reach < limit;
}

}  // namespace

KernelTraits::KernelTraits(const Kernel& kernel) : outputs(static_cast<int>(kernel.outputs.size())) {
  const Graph& graph = kernel.graph;
  for (const Operand output : graph.outputs()) operands.push_back({graph[output].dtype, true});
  operands.resize(kernel.outputs.size() + kernel.inputs.size(), Access{DType::Bool, true});
  for (const Node& n : graph.nodes())
    if (n.op == Op::leaf || n.op == Op::index)
      operands[kernel.outputs.size() + n.attribute] = {n.dtype, n.op == Op::leaf};
  lanes = lanes_for(*this, graph);
}

KernelClass ClassKey::decode(std::size_t operands) const {
  KernelClass c{rank(), lanes(), wide(), aliased(), {}};
  for (std::size_t k = 0; k < operands; ++k) c.patterns.push_back(pattern(k));
  return c;
}

ClassKey classify(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept {
  ClassKey key;
  bool vectors = traits.lanes > 1 && (nest.rank == 1 || nest.extents[nest.rank - 1] % traits.lanes == 0);
  bool wide = nest.numel >= std::int64_t{1} << 31;
  for (std::size_t k = 0; k < nest.operands.size(); ++k) {
    const NestOperand& o = nest.operands[k];
    const Pattern p = pattern_of(nest, o);
    key.set_pattern(k, p);
    if (p == Pattern::Linear || p == Pattern::Rows) {
      const KernelTraits::Access& trait = traits.operands[k];
      const std::uintptr_t bytes = static_cast<std::uintptr_t>(traits.lanes) * size_of(trait.dtype);
      if (trait.memory && vectors) vectors = is_aligned(nest, o, p, bytes, traits.lanes);
    } else if (static_cast<int>(k) < nest.outputs) {
      vectors = false;
    }
    if (p != Pattern::Linear && !wide) wide = !is_narrow(nest, o);
  }
  key.set_head(nest.rank, vectors ? traits.lanes : 1, wide, aliased);
  return key;
}

KernelClass generic_class(const KernelTraits& traits) {
  return {max_rank, 1, true, true, std::vector<Pattern>(traits.operands.size(), Pattern::Strided)};
}

}  // namespace sinter::inline v1::jit
