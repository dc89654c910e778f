// Hardware limits, measured together with what is compared with them: "limit/bytesK/n" moves the bytes of K arrays of n
// floats, for every K of the expressions; "limit/peak/0" does multiply-adds in registers.
#pragma once
#include <benchmark/benchmark.h>

#include <set>
#include <sstream>
#include <string>

#include "suite.hpp"

namespace bench {

/// Registers `make(elements)` for every size and every number of bytes that an expression moves. The triad has three
/// arrays and the copy two: the number of elements is chosen so that the bytes are equal.
template <class Make>
void add_limits(int own_arrays, Make make) {
  std::set<int> amounts;
  for (const Expression& e : expressions()) amounts.insert(e.bytes);
  for (const long n : options().sizes)
    for (const int bytes : amounts) {
      const int per_element = 4 * own_arrays;
      const auto elements = static_cast<std::size_t>((n * bytes + per_element - 1) / per_element);
      std::ostringstream arrays;
      arrays << "bytes" << bytes / 4.0;
      const std::string name = name_of("limit", arrays.str(), n);
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
        auto mover = make(elements);
        mover->run();
        repeat(state, *mover);
        state.SetLabel("limit float32");
        state.counters["operations"] = 0;
        state.counters["bytes"] = 1.0 * bytes * static_cast<double>(n);
      })->UseRealTime();
    }
}

inline void report_peak(benchmark::State& state, double operations) {
  state.SetLabel("limit float32");
  state.counters["bytes"] = 0;
  state.counters["operations"] = operations;
}

}  // namespace bench
