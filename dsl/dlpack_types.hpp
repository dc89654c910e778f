// Devices and dtypes as DLPack and Sinter name them.
#pragma once
#include <sinter/dsl/dlpack_abi.hpp>
#include <sinter/runtime/tensor_impl.hpp>

namespace sinter::inline v1::detail {

dlpack::DataType to_dlpack(DType dtype) noexcept;
dlpack::Device dlpack_device(const runtime::TensorImpl& t) noexcept;

/// Throws DtypeError for elements that Sinter has not.
DType dtype_from(dlpack::DataType type);
/// Where Sinter reads such memory. Throws DeviceError for devices that it does not know.
Device device_from(dlpack::Device device);

}  // namespace sinter::inline v1::detail
