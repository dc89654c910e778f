#include "kernel_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "words.hpp"

namespace sinter::inline v1::jit {

std::string computed(const report::Kernel& kernel) {
  constexpr std::size_t shown = 12;
  std::vector<std::pair<std::string_view, int>> runs;
  std::size_t left = 0;
  for (const report::GraphNode& s : kernel.steps) {
    if (!s.is_computed) continue;
    ++left;
    if (runs.empty() || runs.back().first != s.name) runs.emplace_back(s.name, 0);
    ++runs.back().second;
  }
  if (runs.empty()) return "a copy";
  std::vector<std::string> words;
  for (const auto& [what, times] : runs) {
    if (words.size() == shown) break;
    words.push_back(times == 1 ? std::string(what) : fmt::format("{} x {}", what, times));
    left -= static_cast<std::size_t>(times);
  }
  return fmt::format("{}{}", fmt::join(words, ", "), left > 0 ? fmt::format(" and {} more", left) : "");
}

std::string described(const report::Input& input) {
  if (input.kind == Slot::Kind::Temporary) return fmt::format("{}: {}", input.name, name(input.dtype));
  return fmt::format("{}: {} {}, {}{}", input.name, name(input.dtype), to_string(input.shape), input.layout,
                     input.uses > 1 ? fmt::format(", {} times in the expression", input.uses) : "");
}

std::string described(const report::Output& output) {
  return fmt::format("{}: {} {}", output.name, name(output.dtype), to_string(output.shape));
}

std::string cost(const report::Report& report, const report::Kernel& kernel) {
  constexpr std::string_view bounds[] = {"", ", memory-bound", ", compute-bound"};
  return fmt::format("{} read, {} written, {}: {:.3g} per byte{}", in_bytes(kernel.bytes_read),
                     in_bytes(kernel.bytes_written), in_thousands(kernel.operations) + " operations",
                     kernel.intensity(), bounds[static_cast<std::size_t>(report::bound_of(report, kernel))]);
}

std::string exchange(const report::Report& report, const report::Repeated& value) {
  const double added = value.bytes * static_cast<double>(1 + value.kernels);
  if (report.bandwidth <= 0 || report.arithmetic_rate <= 0)
    return fmt::format("that saves {} operations and adds at most {}", in_thousands(value.spared), in_bytes(added));
  return fmt::format("that saves {} operations ({}) and adds at most {} ({})", in_thousands(value.spared),
                     in_time(value.spared / report.arithmetic_rate), in_bytes(added),
                     in_time(added / report.bandwidth));
}

std::string_view collective_name(const Collective& c) noexcept {
  return c.kind == Collective::Kind::AllReduce ? "all_reduce" : "all_gather";
}

double bytes_of(const Collective& c) noexcept { return c.elements * static_cast<double>(size_of(c.dtype)); }

}  // namespace sinter::inline v1::jit
