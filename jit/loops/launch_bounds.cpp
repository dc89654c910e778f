#include "launch_bounds.hpp"

#include <algorithm>

namespace sinter::inline v1::jit::loops {

int min_blocks_per_multiprocessor(const LoweringContext& context) {
  if (!context.reduces()) return 1;
  constexpr int max_in_registers = 40, max_looped = 44;
  const RowConfig& scheme = context.scheme;
  const RowTraits& traits = *context.traits.rows;
  const int rows = context.rows_of_thread(), elements = scheme.vectors_per_thread * context.c.vector_width;
  const int largest = traits.partial_bytes.empty() ? 0 : *std::ranges::max_element(traits.partial_bytes) / 4;
  const int operands = static_cast<int>(context.traits.operands.size());
  const int per_row = static_cast<int>(std::ranges::count_if(context.traits.operands, &KernelTraits::Access::per_row));
  const int others = traits.live_registers + 2 * rows * per_row + 2 * std::max(0, operands - 4);
  if (!scheme.in_registers) {
    const int partials = 3 * rows * traits.loop_partial_bytes / 4;  // with compensations, and those of a batch
    if (traits.calls_long_functions || traits.stream_registers > traits.streams) return 1;
    const int pointers = 2 * (traits.streams - 1);
    const int registers = elements * traits.stream_registers + pointers + partials + others;
    return registers <= max_looped ? std::max(1024 / scheme.block, 1) : 1;
  }
  const int addresses =
      scheme.team == 1 && context.c.vector_width == 1 ? elements / 4 : 0;  // each thread has its own row
  const int registers =
      elements * traits.row_register_bytes / 4 + 3 * (rows * std::max(1, largest) - 1) + others + addresses;
  return !traits.calls_long_functions && registers <= max_in_registers ? 1024 / scheme.block : 1;
}

}  // namespace sinter::inline v1::jit::loops
