// The CPU executor: a kernel as steps over tiles that stay in L1, each a SIMD loop chosen for this machine.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <sinter/jit/graph.hpp>
#include "../plan/faults.hpp"
#include "../plan/loop_nest.hpp"
#include "fused_work.hpp"
#include "isa.hpp"

namespace sinter::inline v1::jit::cpu {

struct SharedFaults;

/// How a run is done.
struct RunOptions {
  bool far = false;                     // the arrays exceed the cache, so they are prefetched
  bool streams = false;                 // the only output; the caller calls finish_streaming()
  bool counts = true;                   // toward the work after which loops are compiled
  const std::int64_t* ahead = nullptr;  // bytes to the next rows' elements of each leaf in FusedWork::prefetched
};

/// A kernel's graph, prepared once and run any number of times, from any thread.
class TileProgram {
 public:
  /// `graph` is a Kernel's graph: simplified, elementwise, leaves numbered densely.
  /// `name`: its kernel's. `fused`: what its compiled loops do besides.
  explicit TileProgram(const Graph& graph, std::string_view name = "cpu", FusedWork fused = {});
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
  /// Runs on only this thread, for a part of a larger run: the caller has set DefaultFloatEnvironment.
  void run_part(const LoopNest& nest, const std::uint64_t* scalars, RunOptions options, SharedFaults& faults) const;

  /// Whether the program can also reduce outputs: only in a compiled loop, which computes and reduces a row in one go.
  enum class Reducing : std::uint8_t {
    Never,   // over such a nest
    NotYet,  // it has not been compiled
    Done,
  };
  /// As run_part, and reduces each row into its states. The nest's operands are the outputs, the leaves, and for each
  /// reduction the states; its innermost dim has the elements of a row, more than tiny_row. An output that is not
  /// stored keeps its elements. Unless this is done, nothing has been written.
  Reducing run_reducing(const LoopNest& nest, const std::uint64_t* scalars, RunOptions options,
                        SharedFaults& faults) const;
  /// Compiles such a loop, and returns whether there is one.
  bool prepare_reducing(const LoopNest& nest) const;

  /// Whether its loops are compiled, for some nest.
  bool is_compiled() const noexcept;

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace sinter::inline v1::jit::cpu
