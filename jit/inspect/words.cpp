#include "words.hpp"

#include <fmt/format.h>

#include <iterator>

namespace sinter::inline v1::jit {

std::string counted(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : what.ends_with('s') ? "es" : "s");
}

std::string in_bytes(double bytes) {
  constexpr std::string_view units[] = {"B", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) bytes /= 1000, ++unit;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string in_time(double seconds) {
  constexpr std::string_view units[] = {"s", "ms", "us", "ns"};
  std::size_t unit = 0;
  while (seconds < 1 && unit + 1 < std::size(units)) seconds *= 1000, ++unit;
  return fmt::format("{:.3g} {}", seconds, units[unit]);
}

std::string in_thousands(double number) {
  constexpr std::string_view units[] = {"", " k", " M", " G", " T", " P"};
  std::size_t unit = 0;
  while (number >= 1000 && unit + 1 < std::size(units)) number /= 1000, ++unit;
  return fmt::format("{:.3g}{}", number, units[unit]);
}

}  // namespace sinter::inline v1::jit
