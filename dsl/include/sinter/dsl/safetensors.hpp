// safetensors files: named tensors behind a header in JSON, as Hugging Face's library has them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <sinter/dsl/file_name.hpp>
#include <sinter/dsl/state_dict.hpp>

namespace sinter::inline v1 {

/// What a safetensors file says beside its tensors: texts by name.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// The tensors of a file, in the order of its header: bool, uint8, int8 to int64, float16, bfloat16, float32, float64
/// and complex64. On the CPU they share the file's memory: a page is read when it is touched, and copied when it is
/// written to, so the file stays as it is. It may be removed or replaced meanwhile, as save_safetensors does, but
/// whoever overwrites it changes the tensors, and whoever makes it shorter ends the process. What is not aligned is
/// copied. Throws FormatError (the file cannot be read or is malformed: says where), DtypeError (an element type that
/// Sinter lacks), OutOfMemory, DeviceError.
StateDict load_safetensors(const detail::FileName& name, Device device = {});
/// Reads the header alone. Throws as load_safetensors.
Metadata load_safetensors_metadata(const detail::FileName& name);

/// Writes the bytes that the Python library would: wider dtypes first, then by name. Transformers asks for the metadata
/// {{"format", "pt"}}. The file appears complete or not at all: it is written beside the old one and renamed. Follows a
/// symbolic link; replaces files only. Throws FormatError with the system's reason; Error for a tensor that is empty or
/// a text that is not UTF-8, DtypeError for complex128, which the format lacks; CudaError, OutOfMemory.
void save_safetensors(const detail::FileName& name, const StateDict& state, const Metadata& metadata = {});

}  // namespace sinter::inline v1
