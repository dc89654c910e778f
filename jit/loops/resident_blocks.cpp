#include "resident_blocks.hpp"

#include <algorithm>

namespace sinter::inline v1::jit::loops {

int resident_blocks(const Frame& frame) {
  if (!frame.reduces()) return 1;
  constexpr int enough_kept = 40, enough_read = 44;  // words
  const RowConfig& scheme = frame.scheme;
  const RowTraits& traits = *frame.traits.rows;
  const int rows = frame.rows_of_thread(), elements = scheme.steps * frame.c.lanes;
  const int largest = traits.part_bytes.empty() ? 0 : *std::ranges::max_element(traits.part_bytes) / 4;
  const int operands = static_cast<int>(frame.traits.operands.size());
  const int of_rows = static_cast<int>(std::ranges::count_if(frame.traits.operands, &KernelTraits::Access::per_row));
  const int others = traits.live_words + 2 * rows * of_rows + 2 * std::max(0, operands - 4);
  if (!scheme.kept) {
    const int parts = 3 * rows * traits.loop_part_bytes / 4;  // with what their sums lose, and those of a batch
    if (traits.calls_long_functions || traits.stream_words > traits.streams) return 1;
    const int pointers = 2 * (traits.streams - 1);
    const int words = elements * traits.stream_words + pointers + parts + others;
    return words <= enough_read ? std::max(1024 / scheme.block, 1) : 1;
  }
  const int words = elements * traits.kept_bytes / 4 + 3 * (rows * std::max(1, largest) - 1) + others;
  return !traits.calls_long_functions && words <= enough_kept ? 1024 / scheme.block : 1;
}

}  // namespace sinter::inline v1::jit::loops
