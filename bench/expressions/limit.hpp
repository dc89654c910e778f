// What the hardware allows, measured beside what is compared with it: "limit/bytesK/n" moves the bytes of K arrays of n
// floats, "limit/peak/0" does multiply-adds in registers.
#pragma once
#include <benchmark/benchmark.h>

#include <string>

#include "suite.hpp"

namespace bench {

inline constexpr int most_arrays = 5;

/// Registers `make(elements)` for every size and number of arrays. The triad and the copy have three and two arrays of
/// their own: elements are chosen so that the bytes are the same.
template <class Make>
void add_limits(int own_arrays, Make make) {
  for (const long n : options().sizes)
    for (int arrays = 1; arrays <= most_arrays; ++arrays) {
      const auto elements =
          static_cast<std::size_t>(n * arrays + own_arrays - 1) / static_cast<std::size_t>(own_arrays);
      const std::string name = name_of("limit", "bytes" + std::to_string(arrays), n);
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
        auto mover = make(elements);
        mover->run();
        repeat(state, *mover);
        state.SetLabel("limit float32");
        state.counters["operations"] = 0;
        state.counters["bytes"] = 4.0 * arrays * static_cast<double>(n);
      })->UseRealTime();
    }
}

inline void report_peak(benchmark::State& state, double operations) {
  state.SetLabel("limit float32");
  state.counters["bytes"] = 0;
  state.counters["operations"] = operations;
}

}  // namespace bench
