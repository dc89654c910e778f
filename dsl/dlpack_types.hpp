// Conversion between DLPack's and Sinter's devices and dtypes.
#pragma once
#include <sinter/dsl/dlpack_abi.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::detail {

dlpack::DataType to_dlpack(DType dtype) noexcept;
dlpack::Device dlpack_device(const runtime::TensorImpl& t) noexcept;

/// Throws DTypeError for elements that Sinter does not support.
DType dtype_from(dlpack::DataType type);
/// The device on which Sinter accesses such memory. Throws DeviceError for unknown devices.
Device device_from(dlpack::Device device);

}  // namespace sinter::inline v1::detail
