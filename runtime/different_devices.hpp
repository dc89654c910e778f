// Error messages for tensors on different devices.
#pragma once
#include <string_view>

#include <sinter/runtime/device.hpp>

namespace sinter::inline v1::runtime {

/// Throws DeviceError naming the devices, `where` they meet ("in add(a, b), where" and a line for each operand), and
/// what to do: move either, or `fallback`.
[[noreturn]] void throw_different_devices(Device one, Device other, std::string_view where,
                                          std::string_view fallback = {});

struct TensorImpl;
/// Throws DeviceError for a tensor on a mesh: `what` works on a single device only.
void refuse_mesh(std::string_view what, const TensorImpl& t);

}  // namespace sinter::inline v1::runtime
