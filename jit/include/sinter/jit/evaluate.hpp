// Evaluation: the functions that dsl/ calls.
#pragma once
#include <cstdint>
#include <string>

#include <sinter/jit/program.hpp>
#include <sinter/jit/stats.hpp>

namespace sinter::inline v1::jit {

enum class Mode : std::uint8_t {
  Fused,
  Eager,    // one kernel for each operation
  Prepare,  // compile what an evaluation would need; run nothing
};

/// Evaluates all outputs together. outputs[i] is an array to write to, or null and then receives a new array.
/// Everything is read before anything is written. An expression without leaves runs on `device`.
/// Throws DeviceError, ShapeError, DTypeError (for an in-place result whose category is too high), OutOfMemory,
/// CudaError.
void evaluate(const Bound& tree, runtime::TensorRef* outputs, Mode mode = Mode::Fused, Device device = {});

/// The shape that the (first) output would have. Throws ShapeError, DeviceError.
Shape result_shape(const Bound& tree);

/// Writes `from` into `to`, broadcasting, converting the dtype and crossing devices as needed. Throws ShapeError.
void copy(runtime::TensorImpl& to, const runtime::TensorImpl& from);

/// The array itself if it already has this dtype and device, else a contiguous copy.
runtime::TensorRef to(runtime::TensorImpl& from, DType dtype, Device device);

/// The array itself if it is contiguous, else a contiguous copy on the same device.
runtime::TensorRef contiguous(runtime::TensorImpl& from);

}  // namespace sinter::inline v1::jit
