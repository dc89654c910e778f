// NumPy's .npz files: named arrays, each a .npy file in a zip archive.
#pragma once
#include <sinter/dsl/file_name.hpp>
#include <sinter/dsl/state_dict.hpp>

namespace sinter::inline v1 {

/// The arrays of a file by numpy.savez or numpy.savez_compressed, in file order, under their names without ".npy";
/// dtypes are those of load_npy. Only the results take memory, and never more than the file's size can justify. Throws
/// FormatError naming the entry (the file cannot be read, is malformed or damaged), DTypeError (Sinter lacks an element
/// type), OutOfMemory, DeviceError.
StateDict load_npz(const detail::FileName& name, Device device = {});

/// Writes what numpy.savez does, uncompressed. The write is atomic (to a file beside the old one, then renamed): the
/// file appears complete or not at all. Follows a symbolic link; replaces regular files only. Throws FormatError with
/// the system's reason, or for a name that NumPy cannot open (not UTF-8, or with a zero byte); DTypeError for bfloat16,
/// which the format lacks; Error for a tensor without an array; CudaError, OutOfMemory.
void save_npz(const detail::FileName& name, const StateDict& state);

}  // namespace sinter::inline v1
