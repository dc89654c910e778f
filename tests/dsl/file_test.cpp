// Files, as every format uses them; tests/dsl/npy_test.cpp tests errors of reading and writing.
#include <dsl/files/file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <runtime/atomic_file_writer.hpp>
#include <sinter/jit/export.hpp>
#include <sinter/runtime/error.hpp>
#include "../scratch.hpp"

namespace sinter {
namespace {

namespace fs = std::filesystem;
using detail::FileSource;
using detail::Mapping;
using testing::read_text;
using testing::write_text;

std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Mapping, HoldsTheFileAndKeepsWhatIsWrittenToItself) {
  const testing::ScratchFolder folder;
  const std::string path = folder.file("a"), content = std::string(10000, 'a') + "end";
  write_text(path, content);
  const Mapping one = FileSource(path).map(), other = FileSource(path).map();
  EXPECT_EQ(text(one.bytes()), content);
  one.bytes()[5] = std::byte{'x'};
  EXPECT_EQ(read_text(path), content);
  EXPECT_EQ(text(other.bytes()), content);
  fs::remove(path);
  EXPECT_EQ(text(other.bytes()), content);
  EXPECT_EQ(one.bytes()[5], std::byte{'x'});
}

TEST(File, NamesEndWhereTheStringDoes) {
  const testing::ScratchFolder folder;
  const std::string path = folder.file("a");
  write_text(path, "content");
  const std::string longer = path + std::string("\0.png", 5);
  const auto refused = ::testing::ThrowsMessage<FormatError>(::testing::HasSubstr("contains a NUL byte"));
  EXPECT_THAT([&] { FileSource{longer}; }, refused);
  EXPECT_THAT([&] { runtime::AtomicFileWriter{longer}; }, refused);
  EXPECT_EQ(read_text(path), "content");
  EXPECT_THAT([&] { Exported{}.write(longer); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("contains a NUL byte")));
}

TEST(Mapping, OfAnEmptyFileIsEmpty) {
  const testing::ScratchFolder folder;
  write_text(folder.file("a"), "");
  EXPECT_TRUE(FileSource(folder.file("a")).map().bytes().empty());
}

}  // namespace
}  // namespace sinter
