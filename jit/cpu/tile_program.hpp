// The CPU executor: a kernel as steps over tiles that stay in L1, each a SIMD loop chosen for this machine.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <sinter/jit/graph.hpp>
#include "../plan/faults.hpp"
#include "../plan/loop_nest.hpp"

namespace sinter::inline v1::jit::cpu {

/// Which build of the loops runs. Chosen once from what the processor has; SINTER_CPU_ISA=sse4|avx2|avx512 lowers it.
enum class Isa : std::uint8_t { Sse4, Avx2, Avx512 };
Isa isa() noexcept;
/// For tests: runs with another build from now on. Throws Error if the processor lacks it.
void set_isa(Isa isa);

struct SharedFaults;

/// A kernel's graph, made ready once and run any number of times, from any thread.
class TileProgram {
 public:
  /// `graph` is a Kernel's graph: simplified, elementwise, leaves numbered densely.
  explicit TileProgram(const Graph& graph);
  ~TileProgram();
  TileProgram(TileProgram&&) noexcept;

  /// Makes what a run over this nest needs.
  void prepare(const LoopNest& nest) const;

  /// `nest.operands` are the outputs, then the leaves. `scalars` holds one word for each scalar node in the order of
  /// the nodes: its value in the node's dtype, zero-extended. Outputs do not overlap leaves except element for element.
  /// Uses several threads where the work is worth it. Allocates nothing after the first run on a thread.
  /// Gives what was met that cannot be computed with, and counts as 0.
  RunFaults run(const LoopNest& nest, std::span<const std::uint64_t> scalars) const;
  /// The same on this thread alone, for a part of a larger run: the caller has seen to DefaultFloats and says whether
  /// the arrays come from behind the cache.
  void run_part(const LoopNest& nest, const std::uint64_t* scalars, bool far, SharedFaults& faults) const;

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace sinter::inline v1::jit::cpu
