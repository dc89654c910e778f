// Sums that are one element of each row: sum(where(column == p, x, 0)), as in the cross-entropy of classes.
#pragma once
#include <optional>

#include "../plan/row_stages.hpp"

namespace sinter::inline v1::jit::cpu {

/// What a reduction of `elements` reads: a leaf of 16-bit floats without its conversion to float32.
Operand in_memory(const Graph& graph, Operand elements);

struct PickedElement {
  Operand element;   // a leaf over the domain, of floats
  Operand column;    // an index over the domain
  Operand position;  // computed once per row; columns are compared with it in its dtype, int32 or int64
};

/// What a reduction picks from each row, if it is such a sum.
std::optional<PickedElement> picked_element(const Kernel& kernel, const RowStages& stages, const Node& reduction);

}  // namespace sinter::inline v1::jit::cpu
