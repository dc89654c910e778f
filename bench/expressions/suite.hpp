// How every library is measured. A Subject is a library with its operands:
//   run()     evaluates once; may return before a GPU is done
//   wait()    waits for it
//   poison()  fills the result with NaN
//   read()    the result, row-major
#pragma once
#include <benchmark/benchmark.h>

#include <sinter/runtime/stream.hpp>
#include <string>
#include <vector>

#include "expression.hpp"

// A macro's value as text, for library versions.
#define BENCH_TEXT_OF(value) #value
#define BENCH_TEXT(value) BENCH_TEXT_OF(value)

namespace bench {

struct Options {
  std::vector<long> sizes;          // numbers of elements
  std::vector<long> columns;        // widths of the matrices in bench/rows
  std::vector<std::string> shapes;  // for bench/products
  std::string device = "cpu";
  bool on_gpu() const { return device != "cpu"; }
  bool virtual_gpu = false;  // only values are checked there: times mean nothing
};
const Options& options();

/// Each library's file registers itself; main calls the registrars once the options are known.
using Registrar = void (*)();
std::vector<Registrar>& registrars();
struct Register {
  explicit Register(Registrar r) { registrars().push_back(r); }
};

/// Evaluations per wait: a wait takes as long as many launches, and programs do not wait after each.
inline int batch() { return !options().on_gpu() ? 1 : options().virtual_gpu ? 2 : 32; }

/// Batches on a GPU, timed there by events: "gpu_ns", per evaluation.
template <class Subject>
void repeat_on_gpu(benchmark::State& state, Subject& subject) {
  const sinter::Stream stream = sinter::current_stream();
  double ms = 0;
  long evaluations = 0;
  while (state.KeepRunningBatch(batch())) {
    const sinter::Event begin = stream.record(sinter::Timing::On);
    for (int i = 0; i < batch(); ++i) subject.run();
    const sinter::Event end = stream.record(sinter::Timing::On);
    subject.wait();
    ms += begin.elapsed_ms(end);
    evaluations += batch();
  }
  state.counters["gpu_ns"] = 1e6 * ms / static_cast<double>(evaluations);
}

template <class Subject>
void repeat(benchmark::State& state, Subject& subject) {
  if (options().on_gpu()) return repeat_on_gpu(state, subject);
  for (auto _ : state) {
    subject.run();
    benchmark::ClobberMemory();
  }
}

/// The first run is a warm-up; the first and the last are checked, each after poison.
template <class Subject>
void measure(benchmark::State& state, Subject& subject, const Expression& e, long n) {
  subject.poison();
  subject.run();
  std::string fault = fault_of(e, subject.read());
  subject.poison();
  repeat(state, subject);
  if (fault.empty()) fault = fault_of(e, subject.read());
  if (!fault.empty()) state.SkipWithError(fault.c_str());
  state.SetLabel(std::string(e.family) + " " + e.dtype);
  state.counters["operations"] = e.operations;
  state.counters["bytes"] = 1.0 * e.bytes * static_cast<double>(n);
}

inline std::string name_of(const std::string& expression, const std::string& implementation, long n) {
  return expression + "/" + implementation + "/" + std::to_string(n);
}

/// Registers "expression/implementation/n" for every size. `make(n)` returns a pointer to a Subject, which lives for
/// one repetition and owns the memory of its result.
template <class Make>
void add(const char* expression, const char* implementation, Make make) {
  const Expression& e = find_expression(expression);
  for (const long n : options().sizes)
    benchmark::RegisterBenchmark(name_of(expression, implementation, n).c_str(), [=, &e](benchmark::State& state) {
      const auto subject = make(static_cast<std::size_t>(n));
      measure(state, *subject, e, n);
    })->UseRealTime();
}

}  // namespace bench
