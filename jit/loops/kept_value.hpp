// A value of each element that one pass over a row computes and the next one reads.
#pragma once
#include <cstddef>
#include <optional>

#include "../plan/row_passes.hpp"

namespace sinter::inline v1::jit::loops {

/// The last reduction's pass stores the value in the elements of an output, which the final pass overwrites.
struct KeptValue {
  Operand value;
  std::size_t output = 0;
};

/// What to keep so that no function is computed twice, as e^(x - max) of a softmax: a value that has an output's dtype,
/// and all that the final pass needs of an element, which then reads no inputs: an output may be the same array as one.
std::optional<KeptValue> value_to_keep(const RowPasses& passes);

}  // namespace sinter::inline v1::jit::loops
