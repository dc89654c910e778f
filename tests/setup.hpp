// What a test file needs of its process before the first test, and how it starts itself again.
#pragma once
#include <source_location>
#include <string>

namespace sinter::test {

/// Runs before the tests of the file that defines it, and only then: before anything has read the environment or asked
/// for a device.
///     const Setup eight_gpus([] { setenv("SINTER_VIRTUAL_GPUS", "8", 1); });
class Setup {
 public:
  explicit Setup(void (*run)(), std::source_location file = std::source_location::current());
};

/// For a Setup: turns LeakSanitizer off.
void ignore_leaks();

/// For a Setup of tests that count compilations, or compile by a fake: no kernel comes from disk or goes there.
void keep_kernels_in_memory();

/// The shell command that runs tests of the same file in a process of their own.
std::string this_program();

}  // namespace sinter::test
