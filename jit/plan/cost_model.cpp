#include "cost_model.hpp"

#include <algorithm>
#include <limits>

#include "../ops/traits.hpp"

namespace sinter::inline v1::jit {
namespace {

// The nominal machine. Per byte that moves past the caches, a processor's thread executes one to two instructions on
// each lane of its vectors, a GPU ten.
constexpr int per_byte = 5;
constexpr int per_cached_byte = 1;
constexpr int per_launch = 16;    // per element of a kernel over a few hundred thousand
constexpr int of_composite = 50;  // an operation that is not expanded yet; twice that if it reduces
constexpr std::size_t unit = 4;   // bytes of the elements that ops.def counts instructions for

// What a GPU executes per element in the time of its loads and stores.
constexpr int gpu_instructions = 100;

/// From how many instructions on all computations but one cost more than to write the value once and to read it.
int break_even(const Shared& value, int byte, int launch) noexcept {
  if (value.computations < 2) return std::numeric_limits<int>::max();
  const int moved = static_cast<int>(value.bytes) * (1 + value.readers);
  return (byte * moved + launch) / (value.computations - 1) + 1;
}

}  // namespace

int instructions(const Graph& graph, const Node& n) noexcept {
  if (n.arity == 0) return 0;
  const DType computes_in = graph[graph.operands(n).back()].dtype;
  const int cost = !is_composite(n.op) ? traits_of(n.op).cost : (1 + is_reduction(n.op)) * of_composite;
  return static_cast<int>(static_cast<std::size_t>(cost) * std::max(size_of(computes_in), unit) / unit);
}

int instructions_worth_storing(const Shared& value) noexcept { return break_even(value, per_byte, per_launch); }

int instructions_worth_storing_for_rows(std::size_t bytes, RowValues rows) noexcept {
  switch (rows) {
    case RowValues::Recomputed: break;
    case RowValues::StoredOnCpu: return instructions_worth_keeping({nominal_repeats, nominal_repeats, bytes}, true);
    case RowValues::StoredOnGpu: return gpu_instructions;
  }
  return std::numeric_limits<int>::max();
}

int instructions_worth_keeping(const Shared& value, bool in_cache) noexcept {
  return break_even(value, in_cache ? per_cached_byte : per_byte, 0);
}

}  // namespace sinter::inline v1::jit
