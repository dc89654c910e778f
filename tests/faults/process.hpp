// A scenario in a process of its own, and what became of it.
#pragma once
#include <filesystem>
#include <string>

#include "calls.hpp"
#include "scenario.hpp"

namespace sinter::faults {

enum class Ending : std::uint8_t { WentOn, Error, Finding };

/// What a scenario's process has in the end that it had not at first.
struct Remains {
  long blocks = 0, files = 0;  // of memory; that are open
};

struct Outcome {
  Ending ending;
  std::string message;  // of the error, or what is wrong
  Remains remains;
};

/// Folders for scenarios and the kernels that they share, removed in the end.
class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  /// Runs a scenario with the fault, then without it, which has to give what is right. `trace` is memory that both
  /// processes see. Where more remains than is `usual`, it is looked for leaks.
  Outcome run(const Scenario& scenario, Fault fault, Trace& trace, Remains usual) const;
  /// From now on kernels are found and nothing is stored.
  void kernels_are_compiled() { is_readonly_ = true; }

 private:
  std::filesystem::path path_;
  bool is_readonly_ = false;
};

/// Which lines of which functions made the call that failed, innermost first.
std::string stack_of(const Trace& trace);

}  // namespace sinter::faults
