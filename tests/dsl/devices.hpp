// The devices that a test of the DSL runs on: the CPU and two GPUs. Parameters of tests are made of them, in processes
// of other files, too: virtual ones are named without looking whether they are there.
#pragma once
#include <algorithm>
#include <vector>

#include <runtime/gpus.hpp>
#include <sinter/sinter.hpp>

namespace sinter_tests {

using sinter::test::virtual_gpus;

inline std::vector<sinter::Device> devices() {
  std::vector<sinter::Device> all{sinter::Device()};
  const int gpus = virtual_gpus ? 2 : std::min(2, sinter::device_count());
  for (int i = 0; i < gpus; ++i) all.emplace_back(i);
  return all;
}

template <class E>
std::string printed(const E& e) {
  std::ostringstream out;
  out << e;
  return out.str();
}

/// The message of the E that `f` throws; empty when it throws none.
template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return {};
}

}  // namespace sinter_tests
