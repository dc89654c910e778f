#include <runtime/progress_line.hpp>

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace sinter::runtime {
namespace {

void draw_and_clear() {
  draw_progress("compiling exp (1.0 s)");
  clear_progress();
}

/// What is written to a terminal whose TERM is this. In a process of its own.
std::string seen_on_terminal(const char* term) {
  int terminal = -1, ours = -1;
  if (openpty(&ours, &terminal, nullptr, nullptr, nullptr) != 0) return "no terminal";
  setenv("TERM", term, 1);
  dup2(terminal, STDERR_FILENO);
  draw_and_clear();
  static_cast<void>(write(STDERR_FILENO, ".", 1));
  std::array<char, 256> text;
  std::string seen;
  while (!seen.ends_with('.')) {
    const ssize_t n = read(ours, text.data(), text.size());
    if (n <= 0) return "nothing to read";
    seen.append(text.data(), static_cast<std::size_t>(n));
  }
  return seen;
}

TEST(ProgressLineDeathTest, IsDrawnOnTerminalsAndRemoved) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // variables are read once
  unsetenv("SINTER_QUIET");
  EXPECT_EXIT(std::_Exit(seen_on_terminal("xterm") == "\r\033[Ksinter: compiling exp (1.0 s)\r\033[K." ? 0 : 1),
              ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(seen_on_terminal("dumb") == "." ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

TEST(ProgressLineDeathTest, IsNotWrittenToFiles) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  unsetenv("SINTER_QUIET");
  EXPECT_EXIT((draw_and_clear(), std::_Exit(0)), ::testing::ExitedWithCode(0), "^$");
}

TEST(ProgressLineDeathTest, IsWrittenAnywhereOnRequest) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  unsetenv("SINTER_QUIET");
  EXPECT_EXIT((show_progress(ProgressLines::On), draw_and_clear(), std::_Exit(0)), ::testing::ExitedWithCode(0),
              "sinter: compiling exp \\(1\\.0 s\\)");
  EXPECT_EXIT((setenv("SINTER_QUIET", "1", 1), show_progress(ProgressLines::On), draw_and_clear(), std::_Exit(0)),
              ::testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace sinter::runtime
