// Compiled kernels and plans, as this process keeps them in memory.
#pragma once

namespace sinter::inline v1 {

/// Lets go of all compiled kernels and plans that this process has in memory; what is kept on disk stays. A kernel is
/// unloaded from its GPU when work that uses it is done and CUDA graphs that captured it are gone. What is evaluated
/// next is planned again, and its kernels found on disk or compiled. From any thread, while others evaluate: these go
/// on with what they have.
void clear_cache();

}  // namespace sinter::inline v1
