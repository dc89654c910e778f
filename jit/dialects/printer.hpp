// The loop IR as text of a C-like language.
#pragma once
#include <string>

#include "dialect.hpp"

namespace sinter::inline v1::jit::dialects {

/// Equal programs have equal texts. Vectors are objects Lanes<T, n>, so a language without templates prints programs
/// of one lane.
std::string print(const loops::Loops& loops, const Dialect& dialect);

}  // namespace sinter::inline v1::jit::dialects
