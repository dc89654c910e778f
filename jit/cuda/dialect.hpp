// The loop IR as CUDA text.
#pragma once
#include <string>

#include "../loops/loops.hpp"

namespace sinter::inline v1::jit::cuda {

/// Needs no header. The entry is loops.name; its one parameter is a struct of 8-byte words in the order of the
/// program's Params. Equal programs have equal texts.
std::string print(const loops::Loops& loops);

}  // namespace sinter::inline v1::jit::cuda
