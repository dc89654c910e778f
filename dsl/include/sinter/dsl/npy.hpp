// NumPy's .npy files: arrays of any shape (up to eight dimensions) in one self-describing file.
#pragma once
#include <sinter/dsl/file_name.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::detail {

/// Reads formats 1.0, 2.0 and 3.0 of every dtype but bfloat16, from bool ('|b1') and uint8 ('|u1') to complex128
/// ('<c16'), in either byte order and in either of C and Fortran order. The result alone takes memory. Bytes behind the
/// array are left alone, as NumPy does, since a file may hold several arrays; the first one is read. Throws FormatError
/// (the file cannot be read, is malformed or truncated: says where), DtypeError (an element type that Sinter lacks),
/// OutOfMemory, DeviceError.
runtime::TensorRef load_npy(const FileName& name, Device device);
/// Throws DtypeError as well, where it holds another dtype.
runtime::TensorRef load_npy(const FileName& name, Device device, DType wanted);

/// Writes the bytes that numpy.save would: format 1.0, Fortran order where the tensor is so laid out. The file appears
/// complete or not at all: it is written beside the old one and renamed. Follows a symbolic link; replaces files only.
/// Throws FormatError (with the path and the system's reason), CudaError, OutOfMemory.
void save_npy(const FileName& name, const runtime::TensorImpl& t);

}  // namespace sinter::inline v1::detail
