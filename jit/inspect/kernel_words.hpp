// A report as text, and parts of it that the page shows as well.
#pragma once
#include "report.hpp"

namespace sinter::inline v1::jit {

/// "add, exp, mul"; repeated operations as "add x 3", and only as many as fit a readable line.
std::string computed(const report::Kernel& kernel);
/// "z: float32 (3,), contiguous".
std::string described(const report::Input& input);
std::string described(const report::Output& output);
/// "24 B read, 12 B written, 9 operations: 0.25 per byte, memory-bound".
std::string cost(const report::Report& report, const report::Kernel& kernel);
/// The operations that storing a value would save and the bytes that it would add; also as times if the device's rates
/// are known.
std::string exchange(const report::Report& report, const report::Repeated& value);

/// The whole text, as explain() returns it.
std::string report_text(const report::Report& report);

std::string_view collective_name(const Collective& c) noexcept;
/// Bytes that each rank contributes.
double bytes_of(const Collective& c) noexcept;

}  // namespace sinter::inline v1::jit
