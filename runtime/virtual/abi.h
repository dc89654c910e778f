// The ABI between a compiled kernel and the runtime. The runtime includes this file, and every kernel's text starts
// with it, so it has no includes.
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

enum class Access : int { Read, Write, Atomic };

enum class Failure : int { Trap, Assertion, Misaligned, Index };

/// Callbacks of a kernel into the runtime.
struct Operations {
  int (*barrier)(BarrierKind kind, int predicate, int line);
  unsigned long long (*warp)(WarpOp op, unsigned mask, unsigned long long value, int argument, int width, int line);
  unsigned (*active_mask)();
  /// Does not return. `value`: the address or the index; `what`: the type or the condition.
  void (*fail)(Failure failure, int line, unsigned long value, const char* what);
  // Called by kernels of the strict tier.
  /// `instruction`: the one after the access.
  void (*access)(Access kind, unsigned long address, unsigned long bytes, unsigned long instruction);
  void (*fence)();
};

/// The state of the host thread that runs a block, in its thread-local storage.
struct State {
  Index thread, block, block_dim, grid_dim;
  const Operations* operations;
  char* static_shared;   // the block's __shared__ variables
  char* dynamic_shared;  // what `extern __shared__` names
};

inline char* thread_pointer() {
  char* p;
#if defined(__x86_64__)
  __asm__("mov %%fs:0, %0" : "=r"(p));
#elif defined(__aarch64__)
  __asm__("mrs %0, tpidr_el0" : "=r"(p));
#else
#error "Virtual GPUs support only x86-64 and AArch64"
#endif
  return p;
}

/// The one symbol of a compiled kernel: `sinter_virtual_kernel`.
struct KernelInfo {
  const char* name;
  const char* source;                                                  // the CUDA text
  void (*run)(const void* parameters, unsigned first, unsigned last);  // threads [first, last) of the current block
  unsigned parameter_bytes;
  unsigned max_block;  // from __launch_bounds__, else 1024
  // Set when the kernel is loaded: the offset of State from the thread pointer, and that of dynamic shared memory.
  long* state_offset;
  unsigned long* dynamic_offset;
  void* (*dynamic_address)();  // null without `extern __shared__`
};

}  // namespace sinter_virtual
#endif
