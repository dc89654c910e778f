// Compiled kernels and plans in this process's memory.
#pragma once

namespace sinter::inline v1 {

/// Discards all compiled kernels and plans in this process's memory; the disk cache stays. A kernel is unloaded from
/// its GPU when work that uses it is done and CUDA graphs that captured it are gone. Later evaluations plan again and
/// find their kernels on disk or compile them. May be called from any thread; concurrent evaluations keep what they
/// use.
void clear_cache();

}  // namespace sinter::inline v1
