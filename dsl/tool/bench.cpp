// sinter bench: fused against eager.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include <sinter/dsl/evaluate.hpp>
#include "commands.hpp"
#include "operands.hpp"

namespace sinter::tool {
namespace {

constexpr int warm_ups = 3;

class Times {
 public:
  void add(double seconds) { seconds_.insert(std::ranges::upper_bound(seconds_, seconds), seconds); }
  /// The given quantile of the times, linearly interpolated.
  double quantile(double part) const {
    const double at = part * static_cast<double>(seconds_.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, seconds_.size() - 1);
    return std::lerp(seconds_[below], seconds_[above], at - std::floor(at));
  }

 private:
  std::vector<double> seconds_;  // ascending
};

/// Times one evaluation, from the call until the result is ready.
double measure(const ParsedExpression& expression, const Operands& operands, jit::Mode mode, Device device,
               runtime::TensorRef& result) {
  const Lazy<AnyType> e = expression(operands.named);  // an expression keeps its value: each evaluation needs a new one
  result = {};
  synchronize(device);
  const auto start = std::chrono::steady_clock::now();
  jit::evaluate(std::span(&e.node(), 1), &result, mode);
  synchronize(device);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double bytes_of(const AnyTensor& t) { return static_cast<double>(t.numel()) * static_cast<double>(size_of(t.dtype())); }

std::string scaled(double number, std::span<const std::string_view> units, double step) {
  std::size_t unit = 0;
  while (number * step >= 1000 && unit + 1 < units.size()) step /= 1000, ++unit;
  return fmt::format("{:.3g} {}", number * step, units[unit]);
}
std::string in_time(double seconds) {
  constexpr std::string_view units[] = {"ns", "us", "ms", "s"};
  return scaled(seconds, units, 1e9);
}
std::string in_bytes(double bytes) {
  constexpr std::string_view units[] = {"B", "KB", "MB", "GB", "TB"};
  return scaled(bytes, units, 1);
}

void print_row(std::string_view name, const Times& t, double bytes) {
  const double median = t.quantile(0.5);
  fmt::print("{:<6} {:>10} {:>25} {:>12}/s\n", name, in_time(median),
             fmt::format("{} to {}", in_time(t.quantile(0.25)), in_time(t.quantile(0.75))), in_bytes(bytes / median));
}

}  // namespace

int bench_expression(const Parsed& given) {
  const int repeats = given.number("--repeat", 1, 30);
  const Device device(given.get("--device", "cpu"));
  define_functions(given.all("--function"));
  const ParsedExpression expression(given.operands[0]);
  const std::vector<Argument> arguments = read_arguments(given.all("--arg"));
  check_used(expression, arguments);
  const Operands operands = make_operands(arguments, read_sizes(given.all("--size")), Fill::Random, device);

  Times fused, eager;
  runtime::TensorRef result;
  for (int i = -warm_ups; i < repeats; ++i) {
    const double first = measure(expression, operands, jit::Mode::Fused, device, result);
    const double second = measure(expression, operands, jit::Mode::Eager, device, result);
    if (i >= 0) fused.add(first), eager.add(second);
  }
  double bytes = bytes_of(AnyTensor(result));
  for (const NamedTensor& t : operands.tensors) bytes += bytes_of(t.tensor);
  fmt::print("{}\n{}; {} of arguments and result; {} evaluations of each kind\n\n", expression.text(),
             runtime::describe(*result), in_bytes(bytes), repeats);
  fmt::print("{:<6} {:>10} {:>25} {:>14}\n", "", "median", "quartiles", "rate");
  print_row("fused", fused, bytes);
  print_row("eager", eager, bytes);
  fmt::print("\neager takes {:.3g} times as long as fused\n", eager.quantile(0.5) / fused.quantile(0.5));
  return 0;
}

}  // namespace sinter::tool
