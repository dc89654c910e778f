// The devices that DSL tests run on: the CPU and two GPUs. Test parameters are made from them, also in processes of
// other files, so virtual ones are named without checking that they exist.
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

/// The message of the E that `f` throws; empty if it throws none.
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
