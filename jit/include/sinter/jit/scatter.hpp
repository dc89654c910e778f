// Writes at computed places.
#pragma once
#include <cstdint>
#include <span>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::jit {

enum class Write : std::uint8_t {
  Store,  // one of several values for a place stays: on a CPU the last
  Add,    // in row-major order on a CPU, in any on a GPU; bools: or
};

/// An axis of the written array that an index says the position along.
struct IndexedAxis {
  int axis;
  runtime::TensorRef index;  // int64; broadcasts to the shape that is walked
  bool from_end;             // negative indices count from the end
};

/// Writes values, of x's dtype and broadcast to `over`, into x on the CPU: that of position c to the sum of c * `own`
/// and of each index at c times x's stride along its axis. Values and indices may lie in x. `what` is the operation's
/// name. Throws IndexError where an index is out of range, before anything is written; Error where elements of x share
/// memory; OutOfMemory.
void write_indexed(runtime::TensorImpl& x, const Shape& over, const Shape& own, std::span<const IndexedAxis> indices,
                   runtime::TensorImpl& values, Write how, const char* what);

/// A place is an offset in elements from an array's first one. What lies outside [-places_end, places_end) is none.
inline constexpr std::int64_t places_end = std::int64_t{1} << 62;
/// None, also with any offset within memory added.
inline constexpr std::int64_t no_place = 3 * (std::int64_t{1} << 61);

/// Writes values[i] to places[i] of x on a GPU: contiguous arrays of x's dtype and of int64, the values as many as the
/// places or one for all. The values may lie in x. Places that are none are skipped, and whoever waits for the GPU next
/// gets an IndexError that names `what`. Throws Error where elements of x share memory, OutOfMemory, CompileError,
/// CudaError.
void write_at(runtime::TensorImpl& x, runtime::TensorImpl& places, runtime::TensorImpl& values, Write how,
              const char* what);

}  // namespace sinter::inline v1::jit
