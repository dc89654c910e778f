// Pictures of what kernels cost.
#pragma once
#include <string>

#include "../report.hpp"

namespace sinter::inline v1::jit::page {

/// The device's roofline, to a double logarithmic scale, with the kernels as points on it: as much as a kernel can
/// reach. Empty where the device's rates, or those of all kernels, are not known.
std::string roofline(const report::Report& report);

/// A bar for the bytes of each kernel.
std::string byte_bars(const report::Report& report);

}  // namespace sinter::inline v1::jit::page
