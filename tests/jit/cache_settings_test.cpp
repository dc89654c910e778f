#include <jit/cache/cache_settings.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include "../scratch.hpp"

namespace sinter::testing {
namespace {

using jit::cache_settings;
using jit::CacheMode;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct CacheSettingsTest : ::testing::Test {
  ScopedVariable mode{"SINTER_CACHE", std::nullopt}, folder{"SINTER_CACHE_DIR", std::nullopt},
      bytes{"SINTER_CACHE_MAX_BYTES", std::nullopt}, xdg{"XDG_CACHE_HOME", std::nullopt}, home{"HOME", "/home/me"},
      quiet{"SINTER_QUIET", std::nullopt};
};

TEST_F(CacheSettingsTest, FoldersInTheirOrder) {
  EXPECT_EQ(cache_settings().folder, "/home/me/.cache/sinter");
  const ScopedVariable named_xdg("XDG_CACHE_HOME", "/var/cache/me");
  EXPECT_EQ(cache_settings().folder, "/var/cache/me/sinter");
  const ScopedVariable named("SINTER_CACHE_DIR", "/data/kernels");
  EXPECT_EQ(cache_settings().folder, "/data/kernels");
}

TEST_F(CacheSettingsTest, RelativeFolders) {
  {
    const ScopedVariable relative("XDG_CACHE_HOME", "cache");
    EXPECT_EQ(cache_settings().folder, "/home/me/.cache/sinter");
  }
  const ScopedVariable named("SINTER_CACHE_DIR", "kernels");
  EXPECT_EQ(cache_settings().folder, (std::filesystem::current_path() / "kernels").string());
}

TEST_F(CacheSettingsTest, WithoutHomeTheUsersEntryCounts) {
  const passwd* entry = ::getpwuid(::geteuid());
  if (!entry) GTEST_SKIP() << "NOT TESTED: this user has no entry";
  for (const std::optional<std::string>& nothing : {std::optional<std::string>(), std::optional<std::string>("")}) {
    const ScopedVariable none("HOME", nothing);
    EXPECT_EQ(cache_settings().folder, std::string(entry->pw_dir) + "/.cache/sinter");
  }
}

TEST_F(CacheSettingsTest, WithoutAnyHomeThereIsNoDiskCache) {
  if (::geteuid() != 0) GTEST_SKIP() << "NOT TESTED: only root can become a user without an entry";
  EXPECT_EXIT(
      {
        ::unsetenv("HOME");
        if (::setuid(54321) != 0) std::_Exit(1);
        std::_Exit(cache_settings().folder.empty() ? 0 : 2);
      },
      ::testing::ExitedWithCode(0), "no home folder.*SINTER_CACHE_DIR");
}

TEST_F(CacheSettingsTest, Modes) {
  EXPECT_EQ(cache_settings().mode, CacheMode::On);
  for (const auto& [word, expected] :
       {std::pair("on", CacheMode::On), std::pair("", CacheMode::On), std::pair("off", CacheMode::Off),
        std::pair("OFF", CacheMode::Off), std::pair("no", CacheMode::Off), std::pair("Yes", CacheMode::On),
        std::pair("0", CacheMode::Off), std::pair("memory", CacheMode::Memory),
        std::pair("ReadOnly", CacheMode::ReadOnly)}) {
    const ScopedVariable set("SINTER_CACHE", word);
    EXPECT_EQ(cache_settings().mode, expected) << word;
    const bool disk = expected == CacheMode::On || expected == CacheMode::ReadOnly;
    EXPECT_EQ(!cache_settings().folder.empty(), disk) << word;
  }
}

TEST_F(CacheSettingsTest, SizesAndWhatCannotBeRead) {
  constexpr std::uint64_t otherwise = std::uint64_t{1} << 30;
  EXPECT_EQ(cache_settings().max_bytes, otherwise);
  {
    const ScopedVariable set("SINTER_CACHE_MAX_BYTES", "123456");
    EXPECT_EQ(cache_settings().max_bytes, 123456u);
  }
  for (const char* word : {"1G", "-1", "many", "99999999999999999999999"}) {
    const ScopedVariable set("SINTER_CACHE_MAX_BYTES", word);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(cache_settings().max_bytes, otherwise);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                AllOf(HasSubstr("SINTER_CACHE_MAX_BYTES"), HasSubstr(word), HasSubstr("a number of bytes")));
  }
  const ScopedVariable set("SINTER_CACHE", "disk");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cache_settings().mode, CacheMode::On);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("\"disk\""), HasSubstr("on, readonly, memory or off")));
}

}  // namespace
}  // namespace sinter::testing
