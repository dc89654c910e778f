// Random programs, evaluated fused and operation by operation: how often, and by how much, does fusing lose?
//   programs FIRST COUNT [SECONDS]           programs number FIRST and following ones, so many seconds each (0.3)
//   taskset -c 0 programs 0 500              the same by one thread
//   taskset -c 0 programs 0 500 0.3 cpu      the same on a busy machine: processor time
// A program's number is its seed. Prints the ratios' distribution, and the ten programs with the lowest ratio, with
// their plans. A ratio is the time operation by operation over the time fused, each of the fastest of interleaved
// evaluations: disturbances only add time. The programs that look worst are measured again, for longer.
#include <time.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "program.hpp"

namespace {

using bench::Program;
namespace jit = sinter::jit;

clockid_t clock_id = CLOCK_MONOTONIC;

double now() {
  timespec time{};
  clock_gettime(clock_id, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double seconds(const Program& program, jit::Mode mode) {
  const std::vector<jit::LazyRef> results = program.record();
  std::vector<sinter::runtime::TensorRef> outputs(results.size());
  const double start = now();
  jit::evaluate(results, outputs.data(), mode);
  return now() - start;
}

struct Measured {
  unsigned seed = 0;
  double fused = 0, eager = 0;
  double ratio() const { return eager / fused; }
};

Measured measure(unsigned seed, double budget) {
  const Program program(seed);
  for (const jit::Mode mode : {jit::Mode::Fused, jit::Mode::Eager}) seconds(program, mode);  // makes the plans
  Measured fastest{seed, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const double start = now();
  for (int i = 0; i < 5 || (now() - start < budget && i < 400); ++i) {
    fastest.fused = std::min(fastest.fused, seconds(program, jit::Mode::Fused));
    fastest.eager = std::min(fastest.eager, seconds(program, jit::Mode::Eager));
  }
  return fastest;
}

void print_distribution(std::vector<Measured>& all) {
  std::ranges::sort(all, {}, &Measured::ratio);
  double logarithms = 0, fused = 0, eager = 0;
  for (const Measured& m : all) logarithms += std::log(m.ratio()), fused += m.fused, eager += m.eager;
  fmt::print("{} programs: geometric mean {:.2f}, all together {:.2f}, median {:.2f}", all.size(),
             std::exp(logarithms / static_cast<double>(all.size())), eager / fused, all[all.size() / 2].ratio());
  for (const double limit : {0.95, 0.8, 0.6})
    fmt::print(", below {:.2f}: {}", limit, std::ranges::count_if(all, [&](auto& m) { return m.ratio() < limit; }));
  fmt::print("\n");
}

void print(const Measured& m) {
  const Program program(m.seed);
  fmt::print("\n{:.2f}  program {}: {:.3f} ms fused, {:.3f} ms operation by operation\n{}{}\n", m.ratio(), m.seed,
             m.fused * 1e3, m.eager * 1e3, program.text(), jit::explain(jit::Recorded(program.record())));
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return fmt::print(stderr, "usage: {} FIRST COUNT [SECONDS [cpu]]\n", arguments[0]), 2;
  const auto first = static_cast<unsigned>(std::atoi(arguments[1])), last = first + std::atoi(arguments[2]);
  const double budget = count > 3 ? std::atof(arguments[3]) : 0.3;
  if (count > 4 && arguments[4] == std::string_view("cpu")) clock_id = CLOCK_PROCESS_CPUTIME_ID;
  std::vector<Measured> all;
  for (unsigned seed = first; seed < last; ++seed) all.push_back(measure(seed, budget));
  std::ranges::sort(all, {}, &Measured::ratio);
  const auto suspects = std::min<std::ptrdiff_t>(std::ssize(all), 25);
  for (Measured& m : std::span(all).first(static_cast<std::size_t>(suspects))) m = measure(m.seed, 4 * budget);
  print_distribution(all);
  for (const Measured& m : std::span(all).first(static_cast<std::size_t>(std::min<std::ptrdiff_t>(suspects, 10))))
    print(m);
}
