// Dead-code elimination.
#pragma once
#include "loops.hpp"

namespace sinter::inline v1::jit::loops {

/// Values that nothing reads, locals that are only written, and loops and conditions without an effect.
void eliminate_dead_code(LoopProgram& program);

}  // namespace sinter::inline v1::jit::loops
