#include <runtime/temporary_folder.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include <sinter/runtime/error.hpp>
#include "../scratch.hpp"

namespace sinter::testing {
namespace {

namespace fs = std::filesystem;
using runtime::remove_abandoned;
using runtime::TemporaryFolder;

void age(const fs::path& path, std::time_t seconds) {
  const timespec then{std::time(nullptr) - seconds, 0}, times[2] = {then, then};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0) << path;
}
constexpr std::time_t hour = 3600, days = 2 * 24 * hour;

struct TemporaryFolderTest : ::testing::Test {
  ScratchFolder scratch;
  ScopedVariable base{"TMPDIR", scratch.path().string()};

  fs::path left(const std::string& name, std::time_t seconds) const {
    fs::path folder = scratch.file(name);
    fs::create_directory(folder);
    write_text(folder / "kernel.cpp", "x");
    age(folder, seconds);
    return folder;
  }
};

TEST_F(TemporaryFolderTest, GoesWithItsScope) {
  fs::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    write_text(folder.file("kernel.cpp"), "x");
    EXPECT_EQ(path.parent_path(), scratch.path());
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(TemporaryFolderTest, WhatKilledProcessesLeftIsRemoved) {
  const fs::path old = left("sinter-compile-abcdef", days), fresh = left("sinter-compile-ghijkl", 23 * hour),
                 future = left("sinter-compile-mnopqr", -days);
  remove_abandoned(scratch.path());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh / "kernel.cpp"));
  EXPECT_TRUE(fs::exists(future / "kernel.cpp"));
  remove_abandoned(scratch.file("nowhere"));
}

TEST_F(TemporaryFolderTest, WhatIsInUseStays) {
  const TemporaryFolder used;
  write_text(used.file("kernel.cpp"), "x");
  age(used.path(), days);
  remove_abandoned(scratch.path());
  EXPECT_TRUE(fs::exists(used.file("kernel.cpp")));
}

TEST_F(TemporaryFolderTest, SymbolicLinksAreNotFollowedAndNothingElseIsTouched) {
  const fs::path kept = left("kept", days), other = left("sinter-compile-of-mine", days),
                 deep = left("sinter-compile-abcdef", days), with_link = left("sinter-compile-ghijkl", days),
                 link = scratch.file("sinter-compile-mnopqr"), file = scratch.file("sinter-compile-stuvwx");
  fs::create_directory_symlink(kept, link);
  fs::create_directory_symlink(kept, with_link / "link");
  fs::create_directory(deep / "below");
  write_text(deep / "below" / "thesis", "x");
  write_text(file, "x");
  for (const fs::path& path : {link, with_link, deep, file}) age(path, days);
  remove_abandoned(scratch.path());
  EXPECT_TRUE(fs::exists(kept / "kernel.cpp"));
  EXPECT_TRUE(fs::exists(other / "kernel.cpp"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::exists(file));
  EXPECT_TRUE(fs::exists(deep / "below" / "thesis"));
  EXPECT_FALSE(fs::exists(with_link));
}

TEST_F(TemporaryFolderTest, WhatBelongsToAnotherUserStays) {
  const fs::path theirs = left("sinter-compile-abcdef", days);
  if (::chown(theirs.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "NOT TESTED: only root can give folders away";
  age(theirs, days);
  remove_abandoned(scratch.path());
  EXPECT_TRUE(fs::exists(theirs / "kernel.cpp"));
}

TEST_F(TemporaryFolderTest, TheFirstOneOfAProcessRemovesThem) {
  const fs::path old = left("sinter-compile-abcdef", days);
  const std::string folder = scratch.path();
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // a process that has made none
  EXPECT_EXIT(
      {
        ::setenv("TMPDIR", folder.c_str(), 1);
        {
          const TemporaryFolder first;
        }
        const bool is_left = fs::exists(old);
        fs::remove_all(folder);
        std::_Exit(is_left ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(TemporaryFolderTest, AFolderThatCannotBeMadeIsAnError) {
  const ScopedVariable nowhere("TMPDIR", scratch.file("nowhere"));
  EXPECT_THROW(TemporaryFolder(), Error);
}

}  // namespace
}  // namespace sinter::testing
