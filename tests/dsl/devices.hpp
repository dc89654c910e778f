// The devices that a test of the DSL runs on: the CPU and two GPUs - virtual ones, or real ones where
// SINTER_TEST_GPU=1.
#pragma once
#include <cstdlib>
#include <vector>

#include <sinter/sinter.hpp>

namespace sinter_tests {

/// Before main, so that it is set before the first device is asked for.
inline const bool virtual_gpus = !std::getenv("SINTER_TEST_GPU") && setenv("SINTER_VIRTUAL_GPUS", "2", 0) == 0;

inline std::vector<sinter::Device> devices() {
  std::vector<sinter::Device> all{sinter::Device()};
  for (int i = 0; i < sinter::device_count() && i < 2; ++i) all.emplace_back(i);
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
