// What a test file requires of its process before the first test, and how it starts itself again.
#pragma once
#include <source_location>
#include <string>

namespace sinter::test {

/// Runs before the tests of the file that defines it, and only then: before anything has read the environment or looked
/// for a device.
///     const Setup eight_gpus([] { setenv("SINTER_VIRTUAL_GPUS", "8", 1); });
class Setup {
 public:
  explicit Setup(void (*run)(), std::source_location file = std::source_location::current());
};

/// For a Setup: turns LeakSanitizer off.
void ignore_leaks();

/// For a Setup of tests that count compilations or use a fake compiler: no kernel is read from or written to disk.
void keep_kernels_in_memory();

/// The shell command that runs tests of the same file in their own process.
std::string this_program();

}  // namespace sinter::test
