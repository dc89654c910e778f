// Verifies that a program is well formed.
#pragma once
#include "loops.hpp"

namespace sinter::inline v1::jit::loops {

/// What is wrong, with the instruction's index and code; empty if nothing is. Operands must be visible where they are
/// used, and of the right kinds, dtypes and vector widths. Locals must be set before they are read, and as long as
/// their positions require. Inputs are not written, outputs not read. Barriers and shuffles must be in control flow
/// that is the same for all threads of a block. Each fault that is recorded is reported once, at the end.
std::string verify(const LoopProgram& program);

/// In builds with assertions: throws std::logic_error if anything is wrong.
void check(const LoopProgram& program);

}  // namespace sinter::inline v1::jit::loops
