#include <runtime/environment.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdlib>

#include "setuid_copy.hpp"

namespace sinter::runtime {
namespace {

/// Named where it is read, as the documentation's check expects of real ones.
constexpr const char* variable = "SINTER_TEST_SWITCH";

bool off_when(const char* value) {
  setenv(variable, value, 1);
  return is_off(variable);
}

TEST(Environment, SwitchesOffByAnyOfTheUsualWords) {
  unsetenv(variable);
  EXPECT_FALSE(is_off(variable));
  for (const char* word : {"off", "OFF", "0", "false", "False", "no"}) EXPECT_TRUE(off_when(word)) << word;
  for (const char* word : {"", "on", "1", "true", "YES"}) EXPECT_FALSE(off_when(word)) << word;
}

bool on_when(const char* value) {
  setenv(variable, value, 1);
  return is_on(variable);
}

TEST(Environment, SwitchesOnByAnyOfTheUsualWords) {
  unsetenv(variable);
  EXPECT_FALSE(is_on(variable));
  for (const char* word : {"on", "ON", "1", "true", "True", "yes"}) EXPECT_TRUE(on_when(word)) << word;
  for (const char* word : {"", "off", "0", "false", "NO"}) EXPECT_FALSE(on_when(word)) << word;
}

TEST(Environment, ReportsWhatItCannotReadOnce) {
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(off_when("of"));
  EXPECT_FALSE(off_when("of"));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "sinter: SINTER_TEST_SWITCH=\"of\" is not valid: expected on or off; treating it as on\n");
}

TEST(Environment, ReadsNumbersOfBytes) {
  constexpr const char* bytes = "SINTER_TEST_BYTES";
  unsetenv(bytes);
  EXPECT_EQ(environment_bytes(bytes, 7), 7u);
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{12}, std::uint64_t{18'446'744'073'709'551'615u}}) {
    setenv(bytes, std::to_string(n).c_str(), 1);
    EXPECT_EQ(environment_bytes(bytes, 7), n);
  }
  for (const char* const wrong : {"1K", "-1", " 1", "18446744073709551616", "0x10"}) {
    setenv(bytes, wrong, 1);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(environment_bytes(bytes, 7), 7u) << wrong;
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "sinter: SINTER_TEST_BYTES=\"" + std::string(wrong) +
                                                            "\" is not valid: expected a number of bytes; treating it "
                                                            "as 7\n");
  }
}

TEST(Environment, ReportsAlsoToWhoAskedForQuiet) {
  setenv("SINTER_QUIET", "1", 1);
  ::testing::internal::CaptureStderr();
  report_unreadable("SINTER_TEST_WORDS", "a\nb", "this or that", "ignoring it");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "sinter: SINTER_TEST_WORDS=\"a\\x0ab\" is not valid: expected this or that; ignoring it\n");
  unsetenv("SINTER_QUIET");
}

TEST(Environment, DISABLED_IsRead) {
  test::ignore_leaks();  // LeakSanitizer would want to trace a process with more rights
  std::exit(environment(variable) == "on" && is_on(variable) ? 3 : 4);
}

/// The exit status of the test above, in a process of this program or of a copy of it.
int status_with(const std::string& program) {
  const std::string command = "SINTER_TEST_SWITCH=on " + program +
                              " --gtest_also_run_disabled_tests --gtest_filter=Environment.DISABLED_IsRead >/dev/null";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Environment, IsNotThatOfWhoeverStartsAProgramWithMoreRights) {
  EXPECT_EQ(status_with(test::this_program()), 3);
  const ::sinter::testing::ScratchFolder scratch;
  const std::string copy = ::sinter::testing::setuid_copy(scratch);
  if (copy.empty()) GTEST_SKIP() << "needs root, a file system without nosuid, and no emulator";
  EXPECT_EQ(status_with(copy), 4);
}

TEST(Environment, ComparesWordsInAnyCase) {
  EXPECT_TRUE(same_word("AVX2", "avx2"));
  EXPECT_TRUE(same_word("", ""));
  EXPECT_FALSE(same_word("avx", "avx2"));
  EXPECT_FALSE(same_word("avx5", "avx2"));
}

}  // namespace
}  // namespace sinter::runtime
