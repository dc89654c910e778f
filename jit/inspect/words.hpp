// Numbers with their units, as explain() writes them.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace sinter::inline v1::jit {

/// "1 kernel", "3 kernels".
std::string counted(std::size_t n, std::string_view what);
/// "36 B", "33.6 MB": powers of 1000.
std::string in_bytes(double bytes);
/// "6.82 us".
std::string in_time(double seconds);
/// "9", "1.2 k", "66.9 T".
std::string in_thousands(double number);

}  // namespace sinter::inline v1::jit
