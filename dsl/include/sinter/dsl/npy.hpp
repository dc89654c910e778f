// NumPy's .npy files: arrays of any shape (up to eight dimensions) in one self-describing file.
#pragma once
#include <filesystem>

#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::detail {

/// Reads formats 1.0, 2.0 and 3.0 of bool ('|b1'), int32 ('<i4'), int64 ('<i8'), float32 ('<f4') and float64 ('<f8') in
/// either byte order and in either of C and Fortran order. The result alone takes memory. Bytes behind the array are
/// left alone, as NumPy does, since a file may hold several arrays; the first one is read.
/// Throws FormatError (the file cannot be read, is malformed or truncated: says where), DtypeError (an element type
/// that Sinter lacks), OutOfMemory, DeviceError.
runtime::TensorRef load_npy(const std::filesystem::path& path, Device device);

/// Writes the bytes that numpy.save would: format 1.0, Fortran order where the tensor is so laid out. The file appears
/// complete or not at all: it is written beside `path` and renamed. Follows a symbolic link; replaces files only.
/// Throws FormatError (with the path and the system's reason), CudaError, OutOfMemory.
void save_npy(const std::filesystem::path& path, const runtime::TensorImpl& t);

}  // namespace sinter::inline v1::detail
