// Writing to indexed positions.
#pragma once
#include <cstdint>
#include <span>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

enum class Write : std::uint8_t {
  Store,  // if several values have the same position, one wins: on a CPU the last
  Add,    // in row-major order on a CPU, in any order on a GPU; bools: or
};

/// An axis of the written array whose positions are given by an index tensor.
struct IndexedAxis {
  int axis;
  runtime::TensorRef index;  // int64; broadcasts to the iterated shape
  bool from_end;             // negative indices count from the end
};

/// Writes values, of x's dtype and broadcast to `over`, into x on the CPU. The value at position c goes to offset c *
/// `own` plus, for each index, the index at c times x's stride along its axis. Values and indices may share memory with
/// x. `what` is the operation's name. Throws IndexError if an index is out of range, before anything is written; Error
/// if elements of x share memory; OutOfMemory.
void write_indexed(runtime::TensorImpl& x, const Shape& over, const Shape& own, std::span<const IndexedAxis> indices,
                   runtime::TensorImpl& values, Write how, const char* what);

/// A place is an offset in elements from an array's first one. Offsets outside [-places_end, places_end) are invalid.
inline constexpr std::int64_t places_end = std::int64_t{1} << 62;
/// An invalid place, which stays invalid when any offset within memory is added.
inline constexpr std::int64_t no_place = 3 * (std::int64_t{1} << 61);

/// Writes values[i] to places[i] of x on a GPU: contiguous arrays of x's dtype and of int64, with one value per place
/// or one for all. The values may share memory with x. Invalid places are skipped, and the next synchronization with
/// the GPU throws an IndexError that names `what`. Throws Error if elements of x share memory, OutOfMemory,
/// CompileError, CudaError.
void write_at(runtime::TensorImpl& x, runtime::TensorImpl& places, runtime::TensorImpl& values, Write how,
              const char* what);

}  // namespace sinter::inline v1::jit
