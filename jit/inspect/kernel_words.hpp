// A report in words, and parts of it that the page shows as well.
#pragma once
#include "report.hpp"

namespace sinter::inline v1::jit {

/// "add, exp, mul"; neighbours that repeat as "add x 3", and at most so many that the line stays readable.
std::string computed(const report::Kernel& kernel);
/// "z: float32 (3,), contiguous".
std::string described(const report::Input& input);
std::string described(const report::Output& output);
/// "24 B read, 12 B written, 9 operations: 0.25 a byte, bound by memory".
std::string cost(const report::Report& report, const report::Kernel& kernel);
/// What storing a value would spare and add: in time where the device's rates are known, else in operations.
std::string exchange(const report::Report& report, const report::Repeated& value);

/// All of it, as explain() gives it.
std::string words_of(const report::Report& report);

std::string_view collective_name(const Collective& c) noexcept;
/// That each position tells.
double bytes_of(const Collective& c) noexcept;

}  // namespace sinter::inline v1::jit
