// What runs while a fault is injected.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <sinter/sinter.hpp>

namespace sinter::faults {

/// Runs in its own process, in an empty folder.
struct Scenario {
  const char* name;
  void (*run)();                // checks every result
  void (*prepare)() = nullptr;  // runs before, without a fault
  void (*look)() = nullptr;     // runs after a fault: checks that files on disk are intact
};

std::vector<Scenario> file_scenarios();
std::vector<Scenario> evaluation_scenarios();
std::vector<Scenario> text_scenarios();
std::vector<Scenario> cache_scenarios();
std::vector<Scenario> mesh_scenarios();

/// A wrong result. Not a std::exception, so it is not mistaken for an error caused by the fault.
struct Wrong {
  std::string what;
};

inline void expect(bool is_right, const char* what) {
  if (!is_right) throw Wrong{what};
}

/// Compares with numbers computed by hand.
template <class T>
void expect_values(const T& tensor, std::initializer_list<double> values, const char* what) {
  const auto found = tensor.to_vector();
  bool equal = found.size() == values.size();
  for (std::size_t i = 0; equal && i < found.size(); ++i) {
    const double difference = static_cast<double>(found[i]) - values.begin()[i];
    equal = difference < 1e-5 && difference > -1e-5;
  }
  expect(equal, what);
}

}  // namespace sinter::faults
