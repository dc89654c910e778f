#include <runtime/environment.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

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
  testing::internal::CaptureStderr();
  EXPECT_FALSE(off_when("of"));
  EXPECT_FALSE(off_when("of"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "sinter: SINTER_TEST_SWITCH=\"of\" cannot be read: expected on or off; taking it as on\n");
}

TEST(Environment, ReportsAlsoToWhoAskedForQuiet) {
  setenv("SINTER_QUIET", "1", 1);
  testing::internal::CaptureStderr();
  report_unreadable("SINTER_TEST_WORDS", "a\nb", "this or that", "ignoring it");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "sinter: SINTER_TEST_WORDS=\"a\\x0ab\" cannot be read: expected this or that; ignoring it\n");
  unsetenv("SINTER_QUIET");
}

TEST(Environment, ComparesWordsInAnyCase) {
  EXPECT_TRUE(same_word("AVX2", "avx2"));
  EXPECT_TRUE(same_word("", ""));
  EXPECT_FALSE(same_word("avx", "avx2"));
  EXPECT_FALSE(same_word("avx5", "avx2"));
}

}  // namespace
}  // namespace sinter::runtime
