// How operations along rows are measured: "case/implementation/columns", for each width passed to main.
#pragma once
#include <algorithm>
#include <memory>

#include "../expressions/suite.hpp"
#include "cases.hpp"

namespace bench {

/// The matrix with this many columns and about this many elements.
inline Extent matrix(long elements, long columns) {
  const auto width = static_cast<std::size_t>(std::max(1L, columns));
  return {std::max<std::size_t>(1, static_cast<std::size_t>(elements) / width), width};
}

/// Calls `measure(extent, end of the name)` for each matrix.
template <class Measure>
void for_each_matrix(const Measure& measure) {
  for (const long elements : options().sizes)
    for (const long columns : options().columns) measure(matrix(elements, columns), "/" + std::to_string(columns));
}

/// Warms up, and checks the first and the last result, each after poison.
template <class Subject>
void measure_rows(benchmark::State& state, Subject& subject, const RowCase& c, const Extent& of) {
  subject.run();
  subject.poison();
  subject.run();
  std::string fault = fault_of(c, Subject::narrow, of, subject.read());
  subject.poison();
  repeat(state, subject);
  if (fault.empty()) fault = fault_of(c, Subject::narrow, of, subject.read());
  if (!fault.empty()) state.SkipWithError(fault.c_str());
  state.SetLabel(std::string(c.name) + (Subject::narrow ? " bfloat16" : " float32"));
  state.counters["rows"] = static_cast<double>(of.rows);
  state.counters["bytes"] = c.bytes(of, Subject::narrow ? 2 : 4);
}

/// The bound set by memory: `make(floats)` copies. Cases move a matrix of floats twice or once, or one half as wide.
template <class Make>
void add_copies(const Make& make) {
  for_each_matrix([&](const Extent& of, const std::string& columns) {
    for (const std::size_t bytes : {2, 4, 8}) {
      const std::size_t moved = bytes * of.rows * of.columns, floats = std::max<std::size_t>(1, moved / 8);
      const std::string name = "copy" + std::to_string(bytes) + "/limit" + columns;
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
        const auto copy = make(floats);
        copy->run();
        repeat(state, *copy);
        state.SetLabel("copy" + std::to_string(bytes) + " bytes");
        state.counters["rows"] = static_cast<double>(of.rows);
        state.counters["bytes"] = 8.0 * static_cast<double>(floats);
      })->UseRealTime();
    }
  });
}

}  // namespace bench
