// NumPy's .npy files: arrays of any shape (at most eight dimensions), each in a self-describing file.
#pragma once
#include <sinter/dsl/file_name.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::detail {

/// Reads formats 1.0, 2.0 and 3.0 with every dtype but bfloat16, from bool ('|b1') and uint8 ('|u1') to complex128
/// ('<c16'), in either byte order and in C or Fortran order. Only the result takes memory. As in NumPy, bytes after the
/// array are ignored, since a file may hold several arrays; the first is read. Throws FormatError with the position
/// (the file cannot be read, is malformed or truncated), DTypeError (Sinter lacks the element type), OutOfMemory,
/// DeviceError.
runtime::TensorRef load_npy(const FileName& name, Device device);
/// Also throws DTypeError if the file holds another dtype.
runtime::TensorRef load_npy(const FileName& name, Device device, DType wanted);

/// Writes the bytes that numpy.save would: format 1.0, in Fortran order if the tensor has that layout. The write is
/// atomic (to a file beside the old one, then renamed): the file appears complete or not at all. Follows a symbolic
/// link; replaces regular files only. Throws FormatError (with the path and the system's reason), CudaError,
/// OutOfMemory.
void save_npy(const FileName& name, const runtime::TensorImpl& t);

}  // namespace sinter::inline v1::detail
