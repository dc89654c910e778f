// Charts of the kernels' costs.
#pragma once
#include <string>

#include "../report.hpp"

namespace sinter::inline v1::jit::page {

/// The device's roofline on log-log axes, with kernels as points on it: the most that a kernel can reach. Empty if the
/// device's rates, or those of all kernels, are not known.
std::string roofline(const report::Report& report);

/// A bar chart of the bytes of each kernel.
std::string byte_bars(const report::Report& report);

}  // namespace sinter::inline v1::jit::page
