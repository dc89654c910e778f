// Whether a program is one.
#pragma once
#include "loops.hpp"

namespace sinter::inline v1::jit::loops {

/// What is wrong, with the instruction's number and text; empty if nothing is. Operands must be visible where they are
/// used, and of the right kinds and lanes; locals must be as long as their positions require; barriers and shuffles
/// must be in control flow that is the same for all threads of a block.
std::string verify(const Loops& loops);

/// In builds with assertions: throws std::logic_error if anything is wrong.
void check(const Loops& loops);

}  // namespace sinter::inline v1::jit::loops
