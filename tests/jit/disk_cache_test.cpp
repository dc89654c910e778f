#include <jit/cache/disk_cache.hpp>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

#include <jit/cache/disk_entry.hpp>
#include "../file_limit.hpp"
#include "../scratch.hpp"
#include "setup.hpp"

namespace sinter::testing {
namespace {

namespace fs = std::filesystem;
using jit::CacheMode;
using jit::CacheSettings;
using jit::DiskCache;
using jit::entry_name;
using jit::KernelKey;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The messages must be seen here even by who runs the tests quietly.
const sinter::test::Setup not_quiet([] { unsetenv("SINTER_QUIET"); });

KernelKey numbered(int i) { return {"sm_90", "k" + std::to_string(i), "text of kernel " + std::to_string(i)}; }
const KernelKey key = numbered(0);

struct DiskCacheTest : ::testing::Test {
  ScratchFolder scratch;
  std::string folder = scratch.file("cache");

  CacheSettings settings(CacheMode mode = CacheMode::On, std::uint64_t max_bytes = 1 << 20) const {
    return {mode, folder, max_bytes};
  }
  fs::path entry(const KernelKey& k = key) const { return fs::path(folder) / entry_name(k); }
  void store(const KernelKey& k = key, const std::string& binary = "binary") { DiskCache(settings()).store(k, binary); }
  std::optional<std::string> find(const KernelKey& k = key) { return DiskCache(settings()).find(k); }

  /// What f writes to stderr.
  template <class F>
  static std::string said(F f) {
    ::testing::internal::CaptureStderr();
    f();
    return ::testing::internal::GetCapturedStderr();
  }
  /// Nothing is found and nothing can be kept, and that is said once.
  std::string refusal(CacheMode mode = CacheMode::On) {
    return said([&] {
      DiskCache cache(settings(mode));
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(cache.find(key), std::nullopt);
        cache.store(key, "binary");
      }
    });
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  static void set_time(const fs::path& file, std::time_t t) {
    const timespec times[2] = {{t, 0}, {t, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, AT_SYMLINK_NOFOLLOW), 0) << file;
  }
  fs::path stamp() const { return fs::path(folder) / "swept"; }
};

TEST_F(DiskCacheTest, KeepsWhatAnotherObjectFinds) {
  EXPECT_EQ(find(), std::nullopt);
  EXPECT_FALSE(fs::exists(folder)) << "looking makes no folder";
  EXPECT_THAT(said([&] { store(); }), IsEmpty());
  EXPECT_EQ(find(), "binary");
  store(key, "another");
  EXPECT_EQ(find(), "another");
  struct stat s{};
  ASSERT_EQ(::stat(folder.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(entry().c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0600u);
}

TEST_F(DiskCacheTest, MakesTheFoldersAboveIt) {
  folder = scratch.file("several/levels/of/folders");
  store();
  EXPECT_EQ(find(), "binary");
}

TEST_F(DiskCacheTest, EveryPartOfTheKeyCounts) {
  store({"sm_80 nvrtc 12", "name", "text"}, "for 80");
  EXPECT_EQ(find({"sm_90 nvrtc 12", "name", "text"}), std::nullopt) << "another architecture";
  EXPECT_EQ(find({"sm_80 nvrtc 13", "name", "text"}), std::nullopt) << "another compiler";
  EXPECT_EQ(find({"sm_80 nvrtc 12", "other", "text"}), std::nullopt);
  EXPECT_EQ(find({"sm_80 nvrtc 12", "name", "texu"}), std::nullopt);
  EXPECT_EQ(find({"sm_80 nvrtc 12", "name", "text"}), "for 80");
}

TEST_F(DiskCacheTest, AnEntryUnderAnotherKernelsNameIsNotTaken) {
  store(numbered(1), "binary of another kernel");  // as if the hashes were equal
  fs::rename(entry(numbered(1)), entry());
  EXPECT_EQ(find(), std::nullopt);
  EXPECT_TRUE(fs::exists(entry()));
  store();
  EXPECT_EQ(find(), "binary");
}

TEST_F(DiskCacheTest, DamagedEntriesAreDeletedAndWrittenAgain) {
  store();
  const std::string whole = read_text(entry());
  std::vector<std::string> damaged;
  for (std::size_t n = 0; n < whole.size(); ++n) damaged.push_back(whole.substr(0, n));
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    damaged.push_back(whole);
    damaged.back()[byte] ^= 4;
  }
  std::string other_version = whole;
  ++other_version[8];
  jit::seal(other_version);
  damaged.push_back(other_version);
  for (const std::string& bytes : damaged) {
    write_text(entry(), bytes);
    ASSERT_EQ(find(), std::nullopt) << bytes.size();
    ASSERT_FALSE(fs::exists(entry()));
  }
  store();
  EXPECT_EQ(find(), "binary");
}

TEST_F(DiskCacheTest, ReadOnlyFindsAndChangesNothing) {
  store();
  const std::time_t then = std::time(nullptr) - 100;
  set_time(entry(), then);
  DiskCache cache(settings(CacheMode::ReadOnly));
  EXPECT_EQ(cache.find(key), "binary");
  struct stat s{};
  ASSERT_EQ(::stat(entry().c_str(), &s), 0);
  EXPECT_EQ(s.st_mtime, then);
  cache.store(numbered(1), "binary");
  EXPECT_FALSE(fs::exists(entry(numbered(1))));
  write_text(entry(), "damaged");
  EXPECT_EQ(cache.find(key), std::nullopt);
  EXPECT_TRUE(fs::exists(entry()));
  folder = scratch.file("none");
  EXPECT_THAT(refusal(CacheMode::ReadOnly), IsEmpty());
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(DiskCacheTest, AFileInPlaceOfTheFolderIsSaidOnce) {
  write_text(folder, "a file");
  const std::string message = refusal();
  EXPECT_THAT(message, AllOf(HasSubstr("cannot open the folder " + folder), HasSubstr("SINTER_CACHE_DIR"),
                             HasSubstr("SINTER_CACHE=memory")));
  EXPECT_EQ(std::ranges::count(message, '\n'), 1);
  folder += "/below";
  EXPECT_THAT(refusal(), HasSubstr("Not a directory"));
  folder = "/proc/sinter";
  EXPECT_THAT(refusal(), HasSubstr("cannot make the folder /proc/sinter"));
  EXPECT_EQ(read_text(scratch.file("cache")), "a file");
}

TEST_F(DiskCacheTest, QuietSaysNothing) {
  const ScopedVariable quiet("SINTER_QUIET", "1");
  write_text(folder, "a file");
  EXPECT_THAT(refusal(), IsEmpty());
}

TEST_F(DiskCacheTest, AFolderThatOthersMayWriteIsRefused) {
  store();
  for (const ::mode_t mode : {0770, 0707, 0777, 01777}) {
    ASSERT_EQ(::chmod(folder.c_str(), mode), 0);
    const std::string message = refusal();
    EXPECT_THAT(message, AllOf(HasSubstr(folder), HasSubstr("others may write"), HasSubstr("its files are code"),
                               HasSubstr("chmod go-w")));
    EXPECT_EQ(std::ranges::count(message, '\n'), 1);
  }
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);  // others may read
  EXPECT_EQ(find(), "binary");
}

TEST_F(DiskCacheTest, AnEntryThatOthersMayWriteIsNotUsed) {
  store();
  ASSERT_EQ(::chmod(entry().c_str(), 0666), 0);
  EXPECT_THAT(said([&] { EXPECT_EQ(find(), std::nullopt); }), HasSubstr("others may write"));
  store();  // replaces it
  EXPECT_EQ(find(), "binary");
}

TEST_F(DiskCacheTest, WhatBelongsToAnotherUserIsRefused) {
  store();
  constexpr ::uid_t other = 12345;
  if (::chown(entry().c_str(), other, other) != 0) GTEST_SKIP() << "only root can give files away";
  EXPECT_THAT(said([&] { EXPECT_EQ(find(), std::nullopt); }), HasSubstr("belongs to another user (12345)"));
  ASSERT_EQ(::chown(folder.c_str(), other, other), 0);
  EXPECT_THAT(refusal(), AllOf(HasSubstr(folder), HasSubstr("belongs to another user (12345)"),
                               HasSubstr("Name another one in SINTER_CACHE_DIR, or ask its owner")));
}

TEST_F(DiskCacheTest, SymbolicLinksAreFollowedForTheFolderAndNotForEntries) {
  const std::string real = scratch.file("real");
  fs::create_directory(real);
  ASSERT_EQ(::chmod(real.c_str(), 0700), 0);
  fs::create_directory_symlink(real, folder);
  store();
  EXPECT_EQ(find(), "binary");
  // A link to a file that would be a good entry.
  fs::rename(entry(), scratch.file("moved"));
  fs::create_symlink(scratch.file("moved"), entry());
  EXPECT_THAT(said([&] { EXPECT_EQ(find(), std::nullopt); }), HasSubstr("symbolic link"));
  store();  // replaces the link, not what it points to
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(entry())));
  EXPECT_EQ(find(), "binary");
  // Where the folder's link leads is what is judged.
  ASSERT_EQ(::chmod(real.c_str(), 0777), 0);
  EXPECT_THAT(refusal(), HasSubstr("others may write"));
  fs::remove(folder);
  fs::create_directory_symlink(scratch.file("nowhere"), folder);
  EXPECT_THAT(refusal(), HasSubstr("cannot open the folder"));
}

TEST_F(DiskCacheTest, WhatIsNoFileIsNotWaitedFor) {
  store();
  fs::remove(entry());
  ASSERT_EQ(::mkfifo(entry().c_str(), 0600), 0);
  EXPECT_THAT(said([&] { EXPECT_EQ(find(), std::nullopt); }), HasSubstr("not a regular file"));
  fs::remove(entry());
  fs::create_directory(entry());
  EXPECT_EQ(refusal().empty(), false);
}

TEST_F(DiskCacheTest, ALimitOfFileSizesIsNotDeadly) {
  store();
  EXPECT_EQ(
      under_file_limit(1000,
                       [&] {
                         DiskCache cache(settings());
                         const std::string message = said([&] {
                           for (int i = 0; i < 3; ++i) cache.store(numbered(1), std::string(2000, 'x'));
                         });
                         const bool kept = cache.find(numbered(1)).has_value();
                         cache.store(numbered(2), "small");
                         if (kept || cache.find(numbered(2)) != "small" || cache.find(key) != "binary") return 1;
                         const std::size_t at = message.find("(ulimit -f)");
                         return at != std::string::npos && message.find("(ulimit", at + 1) == std::string::npos ? 0 : 2;
                       }),
      0);
  EXPECT_EQ(files(), 3u) << "two entries and the stamp, nothing half written";
}

TEST_F(DiskCacheTest, AFullDiskIsSaidOnce) {
  fs::create_directory(folder);
  if (::mount("none", folder.c_str(), "tmpfs", 0, "size=16k,mode=700") != 0)
    GTEST_SKIP() << "NOT TESTED: a small tmpfs cannot be mounted here";
  const std::string message = said([&] {
    DiskCache cache(settings());
    for (int i = 0; i < 3; ++i) cache.store(numbered(i), std::string(50'000, 'x'));
    EXPECT_EQ(cache.find(numbered(0)), std::nullopt);
    cache.store(numbered(5), "small");
    EXPECT_EQ(cache.find(numbered(5)), "small");
  });
  EXPECT_THAT(message, AllOf(HasSubstr("No space left on device"), HasSubstr(folder)));
  EXPECT_EQ(std::ranges::count(message, '\n'), 1);
  EXPECT_LE(files(), 2u) << "temporaries were left";
  EXPECT_EQ(::umount2(folder.c_str(), MNT_DETACH), 0);
}

TEST_F(DiskCacheTest, SweepsWhatWasUsedLongestAgo) {
  for (int i = 0; i < 10; ++i) store(numbered(i), std::string(1000, 'x'));
  const std::time_t now = std::time(nullptr);
  for (int i = 0; i < 10; ++i) set_time(entry(numbered(i)), now - 1000 + i);
  EXPECT_TRUE(find(numbered(2))) << "used now";
  set_time(stamp(), now - 7200);
  DiskCache(settings(CacheMode::On, 4500)).store(numbered(10), std::string(1000, 'x'));
  std::vector<int> left;
  for (int i = 0; i <= 10; ++i)
    if (fs::exists(entry(numbered(i)))) left.push_back(i);
  EXPECT_THAT(left, ::testing::ElementsAre(2, 8, 9, 10));
}

TEST_F(DiskCacheTest, SweepsOnceAnHourWhateverTheClockDid) {
  const std::time_t now = std::time(nullptr);
  const auto sweeps_at = [&](std::time_t last) {
    DiskCache big(settings(CacheMode::On, 1 << 20)), small(settings(CacheMode::On, 700));
    for (int i = 0; i < 4; ++i) big.store(numbered(i), std::string(400, 'x'));
    set_time(stamp(), last);
    small.store(numbered(9), "x");
    std::size_t left = 0;
    for (int i = 0; i < 4; ++i) left += fs::exists(entry(numbered(i)));
    return left < 4;
  };
  EXPECT_FALSE(sweeps_at(now - 60));
  EXPECT_TRUE(sweeps_at(now - 3700));
  EXPECT_TRUE(sweeps_at(0));
  EXPECT_TRUE(sweeps_at(now + 100'000)) << "a time ahead must not end sweeping";
  EXPECT_TRUE(sweeps_at(now + 1'000'000'000));
  fs::remove(stamp());
  EXPECT_FALSE(fs::exists(stamp()));
  store();
  EXPECT_TRUE(fs::exists(stamp()));
}

TEST_F(DiskCacheTest, EntriesFromTheFutureGoFirst) {
  store(numbered(1), std::string(1000, 'x'));
  store(numbered(2), std::string(1000, 'x'));
  set_time(entry(numbered(1)), std::time(nullptr) + 1'000'000);
  set_time(entry(numbered(2)), std::time(nullptr) - 1'000'000);
  set_time(stamp(), 0);
  DiskCache(settings(CacheMode::On, 2000)).store(numbered(3), "x");
  EXPECT_FALSE(fs::exists(entry(numbered(1))));
  EXPECT_TRUE(fs::exists(entry(numbered(2))));
}

TEST_F(DiskCacheTest, SweepsOldTemporariesAndTouchesNothingElse) {
  store();
  const std::string digits(32, 'a');
  const fs::path old = fs::path(folder) / (digits + "-1-2-3.tmp"), fresh = fs::path(folder) / (digits + "-1-2-4.tmp"),
                 future = fs::path(folder) / (digits + "-1-2-5.tmp"), foreign = fs::path(folder) / "thesis.tmp",
                 odd = fs::path(folder) / (digits + ".txt");
  for (const fs::path& file : {old, fresh, future, foreign, odd}) write_text(file, "x");
  const std::time_t now = std::time(nullptr);
  for (const fs::path& file : {old, foreign, odd}) set_time(file, now - 7200);
  set_time(future, now + 1'000'000);
  set_time(stamp(), 0);
  DiskCache(settings(CacheMode::On, 600)).store(numbered(1), "binary");
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(future));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_TRUE(fs::exists(odd));
}

TEST_F(DiskCacheTest, ALimitBelowOneEntrySweepsToo) {
  for (int i = 0; i < 3; ++i) store(numbered(i), std::string(1000, 'x'));
  set_time(stamp(), 0);
  DiskCache(settings(CacheMode::On, 500)).store(numbered(3), std::string(1000, 'x'));
  EXPECT_EQ(files(), 1u) << "only the stamp";
}

TEST_F(DiskCacheTest, AHitSweepsToo) {
  for (int i = 0; i < 3; ++i) store(numbered(i), std::string(1000, 'x'));
  for (int i = 0; i < 3; ++i) set_time(entry(numbered(i)), std::time(nullptr) - 1000 + i);
  set_time(stamp(), 0);
  EXPECT_TRUE(DiskCache(settings(CacheMode::ReadOnly, 2500)).find(numbered(0)));
  EXPECT_EQ(files(), 4u) << "readonly deletes nothing";
  EXPECT_TRUE(DiskCache(settings(CacheMode::On, 2500)).find(numbered(0)));
  EXPECT_TRUE(fs::exists(entry(numbered(0)))) << "just used";
  EXPECT_FALSE(fs::exists(entry(numbered(1))));
  EXPECT_TRUE(fs::exists(entry(numbered(2))));
}

TEST_F(DiskCacheTest, WhateverHasTheStampsNameGivesWay) {
  const std::string elsewhere = scratch.file("elsewhere");
  write_text(elsewhere, "mine");
  const auto sweeps_with = [&](auto make) {
    for (int i = 0; i < 3; ++i) store(numbered(i), std::string(1000, 'x'));
    fs::remove(stamp());
    make();
    EXPECT_THAT(said([&] { DiskCache(settings(CacheMode::On, 500)).find(numbered(0)); }), IsEmpty());
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(stamp())));
    return files() == 1;
  };
  EXPECT_TRUE(sweeps_with([&] { fs::create_directory(stamp()); }));
  EXPECT_TRUE(sweeps_with([&] { fs::create_symlink(elsewhere, stamp()); }));
  EXPECT_TRUE(sweeps_with([&] { fs::create_symlink("nowhere", stamp()); }));
  EXPECT_TRUE(sweeps_with([&] { EXPECT_EQ(::mkfifo(stamp().c_str(), 0600), 0); }));
  EXPECT_EQ(read_text(elsewhere), "mine");
}

TEST_F(DiskCacheTest, AFullFolderInPlaceOfTheStampIsSaidOnceAndLeftAlone) {
  store();
  fs::remove(stamp());
  fs::create_directory(stamp());
  write_text(stamp() / "thesis", "x");
  const std::string message = said([&] {
    DiskCache cache(settings());
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(cache.find(key));
  });
  EXPECT_THAT(message, HasSubstr("Delete " + stamp().string()));
  EXPECT_EQ(std::ranges::count(message, '\n'), 1);
  EXPECT_TRUE(fs::exists(stamp() / "thesis"));
}

TEST_F(DiskCacheTest, WhatIsLargerThanTheCacheIsNotKept) {
  DiskCache cache(settings(CacheMode::On, 1000));
  EXPECT_THAT(said([&] { cache.store(key, std::string(1000, 'x')); }), IsEmpty());
  EXPECT_EQ(cache.find(key), std::nullopt);
}

}  // namespace
}  // namespace sinter::testing
