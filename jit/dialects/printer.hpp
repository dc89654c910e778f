// Prints the loop IR as source code of a C-like language.
#pragma once
#include <string>

#include "../plan/faults.hpp"
#include "dialect.hpp"

namespace sinter::inline v1::jit::dialects {

/// Equal programs have equal texts. Vectors are objects of type Vec<T, n>, so a language without templates can only
/// print scalar programs.
std::string print(const loops::LoopProgram& program, const Dialect& dialect);

/// The variable of the text that records a fault.
std::string_view fault_name(Fault fault) noexcept;

}  // namespace sinter::inline v1::jit::dialects
