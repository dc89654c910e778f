// What a compiled kernel and the runtime agree on. The runtime includes this file, and every kernel's text starts with
// it, so it includes nothing.
#ifndef SINTER_VIRTUAL_ABI_H
#define SINTER_VIRTUAL_ABI_H

namespace sinter_virtual {

struct Index {
  unsigned x, y, z;
};

enum class BarrierKind : int { Sync, Count, And, Or };

enum class WarpOp : int {
  Shuffle,
  ShuffleUp,
  ShuffleDown,
  ShuffleXor,
  Sync,
  Ballot,
  MatchAny,
  Add,
  Min,
  Max,
  And,
  Or,
  Xor
};

enum class Failure : int { Trap, Assertion, Misaligned, Index };

/// A __shared__ variable: the control block that -femulated-tls makes for a thread_local one. `number` is ours from
/// the first access on; the size of `extern __shared__` is dynamic_size.
struct SharedVariable {
  unsigned long size;
  unsigned long alignment;
  unsigned long number;
  const void* initial;
};
constexpr unsigned long dynamic_size = ~0ul;

/// What a kernel calls back for.
struct Operations {
  int (*barrier)(BarrierKind kind, int predicate, int line);
  unsigned long long (*warp)(WarpOp op, unsigned mask, unsigned long long value, int argument, int width, int line);
  unsigned (*active_mask)();
  void* (*shared)(SharedVariable* variable);
  /// Does not return. `value`: the address or the index; `what`: the type or the condition.
  void (*fail)(Failure failure, int line, unsigned long value, const char* what);
};

/// Of the host thread that runs a block, in its thread-local storage.
struct State {
  Index thread, block, block_dim, grid_dim;
  const Operations* operations;
};

/// The one symbol of a compiled kernel: `sinter_virtual_kernel`.
struct KernelInfo {
  const char* name;
  const char* source;                                                // the CUDA text
  void (*run)(const void* parameters, unsigned first, unsigned last);  // threads [first, last) of the current block
  unsigned parameter_bytes;
  unsigned max_block;            // from __launch_bounds__, else 1024
  unsigned long shared_variables;  // __shared__ variables met so far
  long* state_offset;            // where State lies from the thread pointer; set when the kernel is loaded
};

}  // namespace sinter_virtual
#endif
