// Checks of single instructions.
#pragma once
#include <string_view>
#include <vector>

#include "loops.hpp"

namespace sinter::inline v1::jit::loops {

/// What is wrong with an instruction's kinds, dtypes, vector widths and attributes; empty if nothing is. Its operands
/// must be visible, and as many as it needs. `is_set`: for each local, whether an earlier instruction sets it.
std::string_view check_instruction(const LoopProgram& program, Value v, const std::vector<bool>& is_set);

}  // namespace sinter::inline v1::jit::loops
