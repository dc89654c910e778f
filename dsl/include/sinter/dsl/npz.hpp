// NumPy's .npz files: named arrays, each a .npy file in a zip archive.
#pragma once
#include <sinter/dsl/file_name.hpp>
#include <sinter/dsl/state_dict.hpp>

namespace sinter::inline v1 {

/// The arrays of a file by numpy.savez or numpy.savez_compressed, in its order, under their names without ".npy";
/// dtypes as load_npy has them. The results alone take memory, and no more than the file can justify. Throws
/// FormatError (the file cannot be read, is malformed or damaged: says which entry), DtypeError (an element type that
/// Sinter lacks), OutOfMemory, DeviceError.
StateDict load_npz(const detail::FileName& name, Device device = {});

/// Writes what numpy.load reads, as numpy.savez uncompressed. The file appears complete or not at all: it is written
/// beside the old one and renamed. Follows a symbolic link; replaces files only. Throws FormatError with the system's
/// reason, or for a name that NumPy does not open: one that is not UTF-8, or has a byte of 0; DtypeError for bfloat16,
/// which the format lacks, Error for a tensor that is empty; CudaError, OutOfMemory.
void save_npz(const detail::FileName& name, const StateDict& state);

}  // namespace sinter::inline v1
