// Checks of single instructions.
#pragma once
#include <string_view>
#include <vector>

#include "loops.hpp"

namespace sinter::inline v1::jit::loops {

/// What is wrong with an instruction, of which operands are visible and as many as it needs: kinds, dtypes, lanes,
/// attributes. Empty if nothing is. `is_set` says of each local whether an instruction before sets it.
std::string_view check_instruction(const Loops& loops, Value v, const std::vector<bool>& is_set);

}  // namespace sinter::inline v1::jit::loops
