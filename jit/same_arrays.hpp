// Which leaves are the same array, so that a kernel reads it once.
#pragma once
#include <cstdint>

#include "checks.hpp"

namespace sinter::inline v1::jit {

/// same_as[i] = the first leaf that is the same array as leaf i. Takes time linear in the leaves.
void same_arrays(Leaves leaves, std::uint16_t* same_as);

}  // namespace sinter::inline v1::jit
