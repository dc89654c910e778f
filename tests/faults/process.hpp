// Runs a scenario in its own process, and reports the outcome.
#pragma once
#include <filesystem>
#include <string>

#include "calls.hpp"
#include "scenario.hpp"

namespace sinter::faults {

enum class Ending : std::uint8_t { WentOn, Error, Finding };

/// What a scenario's process has at the end that it did not have at the start.
struct Remains {
  long blocks = 0, files = 0;  // blocks of memory; open files
};

struct Outcome {
  Ending ending;
  std::string message;  // of the error, or what is wrong
  Remains remains;
};

/// Folders for scenarios and their shared kernels, removed at the end.
class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  /// Runs a scenario with the fault, then without it, when its results must be right. `trace` is memory shared by both
  /// processes. If more remains than `usual`, checks for leaks.
  Outcome run(const Scenario& scenario, Fault fault, Trace& trace, Remains usual) const;
  /// From now on kernels are found on disk and nothing is stored.
  void kernels_are_compiled() { is_readonly_ = true; }

 private:
  std::filesystem::path path_;
  bool is_readonly_ = false;
};

/// The functions and lines that made the failed call, innermost first.
std::string stack_of(const Trace& trace);

}  // namespace sinter::faults
