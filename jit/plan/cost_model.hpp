// Whether a value that several readers need is stored once or recomputed by each of them, and limits on the size of
// kernels. The machine is a nominal one, between processors and GPUs, and costs are per element, so a plan depends
// neither on the machine nor on sizes; RowValues is the exception.
#pragma once
#include <cstddef>
#include <cstdint>

#include <sinter/jit/graph.hpp>

namespace sinter::inline v1::jit {

/// Beyond 50 to 100 operations per element a kernel is compute-bound, so longer kernels save little memory traffic,
/// while compile time grows (about 3 ms per operation on 4 elements). A call or a division counts as several
/// operations (weight()).
inline constexpr int max_weight = 512;
/// Limits of a kernel that reduces.
inline constexpr int max_row_inputs = 48;
inline constexpr std::size_t max_row_reductions = 48;

/// The instructions that a node takes per element, in units of the float32 instructions of ops.def.
int instructions(const Graph& graph, const Node& n) noexcept;

/// How often a value of a smaller shape is computed for each of its elements, in kernels over a larger one.
inline constexpr int nominal_repeats = 4;

/// What is known of a value that might be stored.
struct Shared {
  int computations;   // by all readers together, if it is not stored
  int readers;        // kernels and passes that would read it if it is
  std::size_t bytes;  // of an element
};

/// From how many instructions on it is faster to store the value once, in a kernel of its own, and to read it.
int instructions_worth_storing(const Shared& value) noexcept;

/// What becomes of costly values that a kernel would compute again for each row, such as the scale of a
/// normalization, w / sqrt(var + eps). Small kernels recompute them, since each launch has a cost of its own, and GPUs
/// store only what takes longer than a kernel's loads and stores. Either way has the same results.
enum class RowValues : std::uint8_t { Recomputed, StoredOnCpu, StoredOnGpu };
/// The fewest elements for which an additional kernel is worth its launch.
inline constexpr std::int64_t elements_worth_launch_on_cpu = 4096, elements_worth_launch_on_gpu = 1 << 20;
/// For kernels that compute this many elements.
inline RowValues row_values(std::int64_t elements, bool is_cpu) noexcept {
  if (elements < (is_cpu ? elements_worth_launch_on_cpu : elements_worth_launch_on_gpu)) return RowValues::Recomputed;
  return is_cpu ? RowValues::StoredOnCpu : RowValues::StoredOnGpu;
}
/// From how many instructions on they are stored.
int instructions_worth_storing_for_rows(std::size_t bytes, RowValues rows) noexcept;

/// The same from one pass of a kernel to the next: from how many on to keep the value, in the cache or beyond it.
int instructions_worth_keeping(const Shared& value, bool in_cache) noexcept;

}  // namespace sinter::inline v1::jit
