// What is done while a fault is awaited.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <sinter/sinter.hpp>

namespace sinter::faults {

/// Runs in a process of its own, in an empty folder.
struct Scenario {
  const char* name;
  void (*run)();                // says of every result whether it is right
  void (*prepare)() = nullptr;  // before, without a fault
  void (*look)() = nullptr;     // after a fault: whether what is on disk is whole
};

std::vector<Scenario> file_scenarios();
std::vector<Scenario> evaluation_scenarios();
std::vector<Scenario> text_scenarios();
std::vector<Scenario> cache_scenarios();
std::vector<Scenario> mesh_scenarios();

/// A result that is wrong. No std::exception, so that nothing takes it for an error that the fault caused.
struct Wrong {
  std::string what;
};

inline void expect(bool is_right, const char* what) {
  if (!is_right) throw Wrong{what};
}

/// Compares with numbers that were computed by hand.
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
