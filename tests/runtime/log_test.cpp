#include <runtime/log.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace sinter::runtime {
namespace {

/// In a process of its own: which categories are on, as its exit status.
[[noreturn]] void exit_with_categories(const char* value) {
  if (value)
    setenv("SINTER_LOG", value, 1);
  else
    unsetenv("SINTER_LOG");
  int on = 0;
  for (const Log category : {Log::Jit, Log::Cache, Log::Schedule, Log::Memory})
    on |= logs(category) ? static_cast<int>(category) : 0;
  std::_Exit(on);
}

TEST(LogDeathTest, CategoriesByName) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // the variable is read once
  EXPECT_EXIT(exit_with_categories(nullptr), ::testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(exit_with_categories(""), ::testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(exit_with_categories("jit"), ::testing::ExitedWithCode(1), "^$");
  EXPECT_EXIT(exit_with_categories("cache,memory"), ::testing::ExitedWithCode(2 + 8), "^$");
  EXPECT_EXIT(exit_with_categories("jit,cache,schedule,memory,"), ::testing::ExitedWithCode(15), "^$");
  EXPECT_EXIT(exit_with_categories("jti,schedule"), ::testing::ExitedWithCode(4),
              "^sinter: SINTER_LOG=\"jti,schedule\" is not valid: expected a list of jit, cache, schedule, memory; "
              "ignoring \"jti\"\n$");
  EXPECT_EXIT(exit_with_categories("JIT, Memory ,"), ::testing::ExitedWithCode(1 + 8), "^$");
}

TEST(LogDeathTest, AQuietThatCannotBeReadIsSaid) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("SINTER_QUIET", "banana", 1);
        exit_with_categories("jit");
      },
      ::testing::ExitedWithCode(1),
      "^sinter: SINTER_QUIET=\"banana\" is not valid: expected on or off; treating it as off\n$");
}

TEST(Log, LinesOfThreadsStayWhole) {
  ::testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) log(Log::Schedule, std::string(200, 'x'));
    });
  for (std::thread& t : threads) t.join();
  const std::string all = ::testing::internal::GetCapturedStderr();
  const std::string line = "sinter[schedule]: " + std::string(200, 'x') + "\n";
  EXPECT_EQ(all.size(), 400 * line.size());
  for (std::size_t i = 0; i + line.size() <= all.size(); i += line.size()) EXPECT_EQ(all.substr(i, line.size()), line);
}

TEST(Log, NoticesUnlessQuiet) {
  unsetenv("SINTER_QUIET");
  ::testing::internal::CaptureStderr();
  notice("seen");
  setenv("SINTER_QUIET", "1", 1);
  notice("not seen");
  setenv("SINTER_QUIET", "0", 1);
  notice("seen again");
  unsetenv("SINTER_QUIET");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "sinter: seen\nsinter: seen again\n");
}

}  // namespace
}  // namespace sinter::runtime
