// Tensors in files.
#pragma once
#include <sinter/dsl/npy.hpp>
#include <sinter/dsl/npz.hpp>
#include <sinter/dsl/safetensors.hpp>
#include <sinter/dsl/tensor.hpp>

namespace sinter::inline v1 {

/// Reads a .npy file with dtype T. The name is a string or a std::filesystem::path. Throws FormatError if the file
/// cannot be read or is malformed, DTypeError if it holds another dtype.
template <element T, device_argument D = Cpu>
Tensor<T, device_type_of<D>> load_npy(const detail::FileName& name, const D& device = {}) {
  return Tensor<T, device_type_of<D>>(detail::load_npy(name, Device(device), dtype_of<T>));
}
/// Reads a .npy file with its own dtype. Throws FormatError, DTypeError if Sinter lacks that dtype.
inline AnyTensor load_npy(const detail::FileName& name, Device device = {}) {
  return AnyTensor(detail::load_npy(name, device));
}

/// Writes the value as NumPy would. The write is atomic: the file appears complete or not at all. Throws FormatError
/// with the system's reason.
template <expression E>
void save_npy(const detail::FileName& name, const E& value) {
  const Tensor t(value);
  detail::save_npy(name, t.impl());
}

}  // namespace sinter::inline v1
