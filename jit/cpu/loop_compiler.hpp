// Compiles and loads the text of compiled loops, for the instruction set in use.
#pragma once
#include <sinter/runtime/backend.hpp>
#include "chain.hpp"
#include "loop_table.hpp"
#include "tile_program.hpp"

namespace sinter::inline v1::jit::cpu {

/// The processor as a target of kernels. A binary depends on the loops' headers, flags and instruction set, not on the
/// compiler: results are the same bits whichever one made it, so machines without a compiler run what others made.
/// Throws Error if the process has no memory for it.
runtime::KernelTarget& loop_compiler(Isa isa);
/// The same for the texts of device functions' loops, which are C and use no header of Sinter, so they compile faster.
runtime::KernelTarget& function_compiler(Isa isa);

/// The loops of a loaded binary of loop_compiler(), in the order of the text's chains. `handle`: KernelHandle::handle.
const ChainLoop* chain_loops(void* handle) noexcept;
/// The loop of one of function_compiler().
Loop function_loop(void* handle) noexcept;

}  // namespace sinter::inline v1::jit::cpu
