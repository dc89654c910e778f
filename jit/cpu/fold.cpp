#include "../passes/fold.hpp"

#include <sinter/runtime/float_environment.hpp>
#include "../passes/lower.hpp"
#include "tile_program.hpp"

namespace sinter::inline v1::jit {

std::uint64_t fold(Op op, DType result, std::span<const Value> operands) {
  Graph graph;
  std::vector<Operand> constants;
  for (const Value& v : operands) constants.push_back(graph.constant(v.dtype, v.bits));
  graph.output(graph.node(op, result, constants));
  alignas(8) std::byte data[64] = {};
  LoopNest nest;
  nest.operands.push_back({data, {1}});
  const runtime::DefaultFloatEnvironment floats;
  cpu::TileProgram(lower(graph)).run(nest, {});
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, data, size_of(result));
  return bits;
}

}  // namespace sinter::inline v1::jit
