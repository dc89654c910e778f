// `sinter cache`: the folder of compiled kernels, and packed ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tool.hpp"

namespace sinter::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// With two kernels.
class ToolCacheTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shell_ = new Shell;
    shell_->write_npy("z.npy", {1, 2, 3}, "(3,)");
    shell_->prints("run 'z + 1' --arg z=z.npy --device cuda");
    shell_->prints("run 'z * z' --arg z=z.npy --device cuda");
    fs::rename(shell_->file("cache"), shell_->file("two"));
  }
  static void TearDownTestSuite() { delete shell_; }
  void SetUp() override {
    fs::remove_all(shell_->file("cache"));
    fs::copy(shell_->file("two"), shell_->file("cache"));
    fs::permissions(shell_->file("cache"), fs::perms::owner_all);
  }

  static std::vector<fs::path> entries() {
    std::vector<fs::path> found;
    if (fs::exists(shell().file("cache")))
      for (const auto& item : fs::directory_iterator(shell().file("cache")))
        if (item.path().extension() == ".kernel") found.push_back(item.path());
    return found;
  }
  static const Shell& shell() { return *shell_; }

 private:
  static inline Shell* shell_ = nullptr;
};

void flip(const fs::path& file, std::size_t at) {
  std::string text = read_text(file);
  text.at(at) = static_cast<char>(text.at(at) ^ 1);
  write_text(file, text);
}

TEST_F(ToolCacheTest, StatsCountAndClearDeletesWhatIsTheCaches) {
  std::uintmax_t bytes = 0;
  for (const fs::path& e : entries()) bytes += fs::file_size(e);
  const std::string text = shell().prints("cache stats");
  EXPECT_TRUE(text.starts_with(shell().file("cache") + "\n2 kernels, ")) << text;
  EXPECT_THAT(text, HasSubstr(fmt::format("{:.2f} KiB;", static_cast<double>(bytes) / 1024)));
  write_text(shell().file("cache/mine.kernel"), "mine");
  EXPECT_TRUE(shell().prints("cache clear").starts_with("deleted 2 kernels, "));
  EXPECT_EQ(entries(), std::vector<fs::path>{shell().file("cache/mine.kernel")});
  EXPECT_THAT(shell().prints("cache stats"), HasSubstr("0 kernels"));
}

TEST_F(ToolCacheTest, WithoutAFolderThereIsNothing) {
  fs::remove_all(shell().file("cache"));
  EXPECT_THAT(shell().prints("cache stats"), HasSubstr("0 kernels"));
  EXPECT_EQ(shell().prints("cache verify"), "0 of 0 kernels intact\n");
  EXPECT_EQ(shell().prints("cache clear"), "deleted 0 kernels, 0 B\n");
  EXPECT_FALSE(fs::exists(shell().file("cache")));
}

TEST_F(ToolCacheTest, VerifyFindsWhatIsDamaged) {
  EXPECT_EQ(shell().prints("cache verify"), "2 of 2 kernels intact\n");
  const fs::path victim = entries()[0];
  flip(victim, fs::file_size(victim) / 2);
  const Outcome found = shell().sinter("cache verify");
  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(found.out, HasSubstr(victim.filename().string() + ": it is damaged"));
  EXPECT_THAT(found.out, HasSubstr("1 of 2 kernels intact"));
  EXPECT_EQ(entries().size(), 2u);
  const Outcome deleted = shell().sinter("cache verify --delete");
  EXPECT_EQ(deleted.status, 0);
  EXPECT_THAT(deleted.out, HasSubstr(", deleted\n1 of 2 kernels intact"));
  EXPECT_FALSE(fs::exists(victim));
}

TEST_F(ToolCacheTest, AnOversizedEntryIsNamedAndLeftOut) {
  const std::string name = std::string(32, 'a') + ".kernel";
  write_text(shell().file("cache/" + name), "");
  fs::resize_file(shell().file("cache/" + name), std::uintmax_t{1} << 42);  // which takes no room on disk
  const Outcome found = shell().sinter("cache verify");
  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(found.out, HasSubstr(name + ": it is larger than a kernel\n2 of 3 kernels intact"));
  const Outcome packed = shell().sinter("cache pack k.zip");
  EXPECT_EQ(packed.out, "packed 2 kernels\n") << packed.err;
  EXPECT_THAT(packed.err, HasSubstr(name + " is skipped: it is larger than a kernel"));
  EXPECT_EQ(shell().sinter("cache verify --delete").status, 0);
  EXPECT_EQ(entries().size(), 2u);
}

TEST_F(ToolCacheTest, VerifySeesAnEntryOfAnotherName) {
  fs::rename(entries()[0], shell().file("cache/" + std::string(32, 'a') + ".kernel"));
  const Outcome o = shell().sinter("cache verify");
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.out, HasSubstr("another kernel's name"));
}

TEST_F(ToolCacheTest, WhatIsPackedIsUnpackedAndUsed) {
  std::map<std::string, std::string> before;
  for (const fs::path& e : entries()) before[e.filename()] = read_text(e);
  EXPECT_EQ(shell().prints("cache pack k.zip"), "packed 2 kernels\n");
  const std::string packed = read_text(shell().file("k.zip"));
  shell().prints("cache pack again.zip");
  EXPECT_EQ(read_text(shell().file("again.zip")), packed);
  const Outcome listed = shell().command("python3 -m zipfile -l k.zip");
  EXPECT_EQ(listed.status, 0) << listed.err;
  for (const auto& [name, text] : before) EXPECT_THAT(listed.out, HasSubstr(name));
  shell().prints("cache clear");
  EXPECT_EQ(shell().prints("cache unpack k.zip"), "unpacked 2 kernels\n");
  for (const fs::path& e : entries()) EXPECT_EQ(before.at(e.filename()), read_text(e));
  EXPECT_EQ(entries().size(), 2u);
  const Outcome used = shell().sinter("run 'z + 1' --arg z=z.npy --device cuda", "SINTER_LOG=cache");
  EXPECT_THAT(used.err, HasSubstr("hit: "));
}

/// As on a machine without a compiler.
TEST_F(ToolCacheTest, PackedLoopsOfTheCpuNeedNoCompiler) {
  const std::string run = "run 'exp(z) * z' --arg z=z.npy",
                    without_compiler = "SINTER_HOST_CXX=/nowhere/c++ SINTER_LOG=cache ";
  shell().prints("cache clear");
  const Outcome made = shell().sinter(run, "SINTER_CPU_JIT=always");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(shell().prints("cache pack loops.zip"), "packed 1 kernel\n");
  shell().prints("cache clear");
  EXPECT_EQ(shell().prints("cache unpack loops.zip"), "unpacked 1 kernel\n");
  const Outcome used = shell().sinter(run, without_compiler + "SINTER_CPU_JIT=always");
  EXPECT_EQ(used.status, 0);
  EXPECT_EQ(used.out, made.out);
  EXPECT_THAT(used.err, HasSubstr("hit: "));
  const Outcome interpreted = shell().sinter(run, without_compiler + "SINTER_CPU_JIT=off");
  EXPECT_EQ(interpreted.out, made.out);
  EXPECT_EQ(interpreted.err, "");
}

TEST_F(ToolCacheTest, ArchivesOfOthersAreTakenAndWhatIsInThemIsChecked) {
  const fs::path good = entries()[0], bad = entries()[1];
  flip(bad, fs::file_size(bad) - 1);
  const Outcome made = shell().command("python3 -m zipfile -c k.zip cache");  // with an entry of the folder, deflated
  ASSERT_EQ(made.status, 0) << made.err;
  shell().prints("cache clear");
  const Outcome o = shell().sinter("cache unpack k.zip");
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(o.out, "unpacked 1 kernel\n");
  EXPECT_THAT(o.err, HasSubstr(bad.filename().string()));
  EXPECT_EQ(entries(), std::vector<fs::path>{good});
  const Outcome verified = shell().sinter("cache verify");
  EXPECT_EQ(verified.out, "1 of 1 kernel intact\n");
}

TEST_F(ToolCacheTest, DamagedArchivesAreRefused) {
  shell().prints("cache pack k.zip");
  const std::string whole = read_text(shell().file("k.zip"));
  shell().prints("cache clear");
  for (const std::size_t length : {std::size_t{0}, std::size_t{21}, std::size_t{600}, whole.size() - 1}) {
    write_text(shell().file("cut.zip"), whole.substr(0, length));
    const Outcome o = shell().sinter("cache unpack cut.zip");
    EXPECT_EQ(o.status, 1) << length;
    EXPECT_THAT(o.err, HasSubstr("'cut.zip': this zip archive is malformed")) << length;
    EXPECT_EQ(o.out, "");
  }
  std::string flipped = whole;  // in the first kernel, which its checksum tells
  flipped[flipped.size() / 4] = static_cast<char>(flipped[flipped.size() / 4] ^ 2);
  write_text(shell().file("cut.zip"), flipped);
  const Outcome o = shell().sinter("cache unpack cut.zip");
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(o.out, "unpacked 1 kernel\n");
  for (const char* name : {"none.zip", ".", "/dev/zero"})
    EXPECT_EQ(shell().sinter(std::string("cache unpack ") + name).status, 1) << name;
}

TEST_F(ToolCacheTest, FoldersAreRespected) {
  const auto refuses = [](const std::string& arguments, const std::string& variables, const std::string& why) {
    const Outcome o = shell().sinter(arguments, variables);
    EXPECT_EQ(o.status, 1) << arguments;
    EXPECT_THAT(o.err, HasSubstr(why));
  };
  refuses("cache stats", "SINTER_CACHE=memory", "SINTER_CACHE is memory");
  refuses("cache clear", "SINTER_CACHE=readonly", "readonly");
  refuses("cache verify --delete", "SINTER_CACHE=readonly", "readonly");
  EXPECT_EQ(shell().sinter("cache verify", "SINTER_CACHE=readonly").status, 0);
  refuses("cache pack none/k.zip", "", "none/k.zip");
  fs::permissions(shell().file("cache"), fs::perms::all);
  refuses("cache stats", "", "others may write");
  fs::permissions(shell().file("cache"), fs::perms::owner_all);
  EXPECT_EQ(entries().size(), 2u);
}

}  // namespace
}  // namespace sinter::testing
