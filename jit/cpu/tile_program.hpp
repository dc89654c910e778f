// The CPU executor: a kernel as steps over tiles that stay in L1, each a SIMD loop chosen for this machine.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <sinter/jit/graph.hpp>
#include "../plan/faults.hpp"
#include "../plan/loop_nest.hpp"
#include "isa.hpp"

namespace sinter::inline v1::jit::cpu {

struct SharedFaults;

/// Where the arrays of a run lie.
struct ArrayPlaces {
  bool far = false;      // they exceed the cache, so they are prefetched
  bool streams = false;  // the only output; the caller calls finish_streaming()
};

/// A kernel's graph, prepared once and run any number of times, from any thread.
class TileProgram {
 public:
  /// `graph` is a Kernel's graph: simplified, elementwise, leaves numbered densely.
  /// `name`: its kernel's.
  explicit TileProgram(const Graph& graph, std::string_view name = "cpu");
  ~TileProgram();
  TileProgram(TileProgram&&) noexcept;

  /// Prepares a run over this nest, and compiles its loops if there is a compiler (tier.hpp). This and running throw
  /// what FunctionLoop::make_ready throws.
  void prepare(const LoopNest& nest) const;
  /// The same for a part of a larger run.
  void prepare_part(const LoopNest& nest, bool streams) const;

  /// `nest.operands` are the outputs, then the leaves. `scalars` holds one word for each scalar node in the order of
  /// the nodes: its value in the node's dtype, zero-extended. Outputs do not overlap leaves except element for element.
  /// Uses several threads if it pays. In the default float environment. Allocates nothing after the first run on a
  /// thread. Returns the faults that were found; their values count as 0.
  RunFaults run(const LoopNest& nest, std::span<const std::uint64_t> scalars) const;
  /// Runs on only this thread, for a part of a larger run: the caller has set DefaultFloatEnvironment and says where
  /// the arrays lie.
  void run_part(const LoopNest& nest, const std::uint64_t* scalars, ArrayPlaces places, SharedFaults& faults) const;

  /// Whether its loops are compiled, for some nest.
  bool is_compiled() const noexcept;

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace sinter::inline v1::jit::cpu
