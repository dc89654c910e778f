// What a compiled loop does besides computing the outputs of a part of a kernel with rows.
#pragma once
#include <cstdint>
#include <vector>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit::cpu {

/// A reduction of an output's elements along each row.
struct OutputReduction {
  Op op;                  // one of is_reduced_in_loops
  std::uint32_t output;   // among the graph's
  bool is_stored;         // whether others read the output's elements
  std::uint32_t operand;  // numbered as leaves are, after these: the rows' states (ReduceStates::first)
};
inline bool is_reduced_in_loops(Op op, DType dtype) noexcept {
  return dtype == DType::Float32 && (op == Op::sum || op == Op::prod || op == Op::amax || op == Op::amin);
}
/// As Reducer::first_size.
inline std::uint8_t state_bytes(Op op) noexcept { return op == Op::sum ? sizeof(double) : sizeof(float); }

struct FusedWork {
  std::vector<OutputReduction> reductions;
  std::vector<std::uint32_t> prefetched;  // leaves whose elements for the next rows are fetched (RunOptions::ahead)
};

}  // namespace sinter::inline v1::jit::cpu
