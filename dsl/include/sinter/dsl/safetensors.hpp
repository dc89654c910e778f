// safetensors files: named tensors after a JSON header, as defined by Hugging Face.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <sinter/dsl/file_name.hpp>
#include <sinter/dsl/state_dict.hpp>

namespace sinter::inline v1 {

/// The metadata of a safetensors file: strings by name.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// The tensors of a file, in header order: bool, uint8, int8 to int64, float16, bfloat16, float32, float64 and
/// complex64. On the CPU they map the file: a page is read when it is first accessed, and copied when it is written to,
/// so the file never changes. The file may be removed or replaced in the meantime, as save_safetensors does.
/// Overwriting it in place changes the tensors, and truncating it kills the process. Tensors that are not aligned are
/// copied. Throws FormatError with the position (the file cannot be read or is malformed), DTypeError (Sinter lacks an
/// element type), OutOfMemory, DeviceError.
StateDict load_safetensors(const detail::FileName& name, Device device = {});
/// Reads only the header. Throws what load_safetensors throws.
Metadata load_safetensors_metadata(const detail::FileName& name);

/// Writes the bytes that the Python library would: wider dtypes first, then by name. Transformers requires the metadata
/// {{"format", "pt"}}. The write is atomic (to a file beside the old one, then renamed): the file appears complete or
/// not at all. Follows a symbolic link; replaces regular files only. Throws FormatError with the system's reason; Error
/// for a tensor without an array or a string that is not UTF-8; DTypeError for complex128, which the format lacks;
/// CudaError, OutOfMemory.
void save_safetensors(const detail::FileName& name, const StateDict& state, const Metadata& metadata = {});

}  // namespace sinter::inline v1
