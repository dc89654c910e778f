// Zip archives made by hand: what the directory, the headers and the compressed bytes can get wrong.
#include <dsl/files/zip.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include <sinter/runtime/error.hpp>
#include "../scratch.hpp"
#include "npy_bytes.hpp"
#include "tensor_files.hpp"

namespace sinter {
namespace {

namespace zip = detail::zip;
using ::testing::AllOf;
using testing::Bytes;
using ::testing::HasSubstr;
using testing::refusal;

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xFF);
  return text;
}

std::string deflated(const std::string& content) {
  std::string out(compressBound(content.size()) + 100, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

/// An entry of an archive; tests change fields to make it inconsistent.
struct Member {
  std::string name = "a", content = "content", packed = content;
  std::uint64_t method = 0, flags = 0, crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  std::uint64_t size = content.size(), packed_size = packed.size(), offset = 0;
  std::string header_name = name, extra{};
};
Member packed_member(const std::string& content) {
  return {.content = content, .packed = deflated(content), .method = 8};
}

struct Lies {
  std::uint64_t count_more = 0, offset_more = 0, bytes_more = 0, disk = 0;
  std::string comment{}, behind{};
};

std::string archive(std::vector<Member> members, const Lies& lies = {}) {
  std::string file, directory;
  for (const Member& m : members) {
    const std::uint64_t offset = m.offset ? m.offset : file.size();
    const std::string middle = number(m.flags, 2) + number(m.method, 2) + number(0, 4) + number(m.crc, 4) +
                               number(m.packed_size, 4) + number(m.size, 4);
    file +=
        "PK\3\4" + number(20, 2) + middle + number(m.header_name.size(), 2) + number(0, 2) + m.header_name + m.packed;
    directory += "PK\1\2" + number(20, 2) + number(20, 2) + middle + number(m.name.size(), 2) +
                 number(m.extra.size(), 2) + std::string(10, char()) + number(offset, 4) + m.name + m.extra;
  }
  const std::uint64_t start = file.size();
  file += directory + "PK\5\6" + number(lies.disk, 2) + number(0, 2) + number(members.size(), 2) +
          number(members.size() + lies.count_more, 2) + number(directory.size() + lies.bytes_more, 4) +
          number(start + lies.offset_more, 4) + number(lies.comment.size(), 2) + lies.comment + lies.behind;
  return file;
}

std::vector<zip::Entry> directory(const std::string& file) {
  Bytes source(file, "'a.npz'");
  return zip::read_directory(source);
}

/// The contents of all entries.
std::vector<std::string> contents(const std::string& file) {
  Bytes source(file, "'a.npz'");
  std::vector<std::string> all;
  for (const zip::Entry& entry : zip::read_directory(source)) {
    zip::EntrySource content(source, entry);
    std::string text(content.size(), '\0');
    content.read(0, std::as_writable_bytes(std::span(text)));
    content.check();
    all.push_back(text);
  }
  return all;
}

TEST(Zip, ReadsStoredAndDeflated) {
  const std::string large(100'000, 'x');
  EXPECT_EQ(contents(archive({Member(), packed_member("text"), packed_member(large), packed_member("")})),
            (std::vector<std::string>{"content", "text", large, ""}));
  EXPECT_TRUE(contents(archive({})).empty());
  EXPECT_EQ(contents(archive({Member()}, {.comment = "PK\5\6 says nothing, nor does " + std::string(40, '\0')})).size(),
            1u);
}

TEST(Zip, AnEntryIsReadFromAnyPlace) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::string text(300'000, '\0');
  for (char& c : text) c = static_cast<char>(random() % 7 ? 'a' : random());
  const std::string file = archive({packed_member(text), {.content = text}});
  Bytes source(file);
  for (const zip::Entry& entry : zip::read_directory(source)) {
    zip::EntrySource content(source, entry);
    for (int i = 0; i < 60; ++i) {
      const std::size_t at = random() % text.size(), count = random() % std::min<std::size_t>(text.size() - at, 90'000);
      std::string part(count, '\0');
      content.read(at, std::as_writable_bytes(std::span(part)));
      ASSERT_EQ(part, text.substr(at, count));
    }
    EXPECT_NO_THROW(content.check());
  }
}

TEST(Zip, WhatTheDirectoryGetsWrong) {
  const auto lie = [](auto change) {
    Member m;
    change(m);
    return archive({m});
  };
  const struct {
    std::string file;
    const char* expected;
  } cases[] = {
      {"", "it has 0 bytes, and the smallest has 22"},
      {std::string(1000, 'x'), "there is no end record"},
      {archive({Member()}, {.behind = "x"}), "there is no end record"},
      {archive({Member()}, {.disk = 1}), "it is one of several parts"},
      {archive({Member()}, {.count_more = 1}), "its directory has 1 entries, not 2"},
      {archive({Member()}, {.offset_more = 1}), "its directory of 47 bytes from byte 39 is not before its end"},
      {archive({Member()}, {.bytes_more = 7}), "is not before its end record"},
      {archive({Member(), {.name = "b"}}, {.offset_more = 4, .bytes_more = static_cast<std::uint64_t>(-4)}),
       "there is no record of an entry at byte 80"},
      {lie([](Member& m) { m.flags = 1; }), "entry 'a' is encrypted"},
      {lie([](Member& m) { m.method = 12; }), "entry 'a' is compressed by method 12; Sinter reads"},
      {lie([](Member& m) { m.size = 8; }), "entry 'a' of 8 bytes is stored in 7"},
      {lie([](Member& m) { m.size = m.packed_size = 8; }), "entry 'a' of 8 bytes from byte 31 is not before the"},
      {lie([](Member& m) { m.header_name = "b"; }), "has another name than 'a'"},
      {lie([](Member& m) { m.offset = 3; }), "there is no header of entry 'a' at byte 3"},
      {lie([](Member& m) { m.offset = 9999; }), "the header of entry 'a' takes 30 bytes from byte 9999"},
      {lie([](Member& m) { m.size = 0xFFFFFFFF; }), "entry 'a' lacks its 64-bit sizes"},
      {lie([](Member& m) { m.size = 0xFFFFFFFF, m.extra = number(1, 2) + number(4, 2) + number(7, 4); }), "lacks its"},
      {lie([](Member& m) { m.size = 0xFFFFFFFF, m.extra = number(1, 2) + number(80, 2) + number(7, 8); }), "lacks its"},
      {archive({Member(), {.name = "b", .method = 8, .size = 10'000}}),
       "entry 'b' has 10000 bytes, more than 7 deflated"},
      // The second entry's header is the first one's content.
      {archive({{.content = archive({Member()}).substr(0, 38)}, {.offset = 31}}), "two entries overlap at byte 31"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(refusal<FormatError>([&] { directory(c.file); }), AllOf(HasSubstr("'a.npz': "), HasSubstr(c.expected)));
}

TEST(Zip, SizesOf64Bits) {
  Member m;
  m.extra = number(9, 2) + number(3, 2) + "abc" + number(1, 2) + number(16, 2) + number(7, 8) + number(7, 8);
  m.size = m.packed_size = 0xFFFFFFFF;
  EXPECT_EQ(contents(archive({m})), std::vector<std::string>{"content"});
  m.extra = number(1, 2) + number(16, 2) + number(7, 8) + number(std::uint64_t(1) << 60, 8);
  EXPECT_THAT(refusal<FormatError>([&] { directory(archive({m})); }),
              HasSubstr("of 7 bytes is stored in 1152921504606846976"));
}

TEST(Zip, WhatTheContentGetsWrong) {
  const auto lie = [](auto change) {
    Member m = packed_member("some text, some text");
    change(m);
    return archive({m});
  };
  const struct {
    std::string file;
    const char* expected;
  } cases[] = {
      {archive({{.content = "other", .crc = 7}}), "its content is damaged: it has the checksum"},
      {lie([](Member& m) { m.crc ^= 1; }), "its content is damaged"},
      {lie([](Member& m) { ++m.size; }), "it unpacks to less than the directory says"},
      {lie([](Member& m) { --m.size; }), "it unpacks to more than the directory says"},
      {lie([](Member& m) { m.size = 0; }), "it unpacks to more than the directory says"},
      {lie([](Member& m) { m.packed.pop_back(), --m.packed_size; }), "its compressed bytes are truncated"},
      {lie([](Member& m) { m.packed = m.packed_size = 0, m.packed = "", m.size = 0; }),
       "its compressed bytes are truncated"},
      {lie([](Member& m) { m.packed[0] = '\xff'; }), "its compressed bytes are malformed: invalid block type"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(refusal<FormatError>([&] { contents(c.file); }),
                AllOf(HasSubstr("'a.npz', entry 'a'"), HasSubstr(c.expected)));
}

TEST(Zip, EveryTruncationAndFlippedBitReadsOrIsRefused) {
  const std::string file = archive({packed_member("some text, some text"), {.name = "b"}});
  const std::vector<std::string> right = contents(file);
  for (std::size_t length = 0; length < file.size(); ++length)
    refusal<FormatError>([&] { contents(file.substr(0, length)); });
  int refused = 0;
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::string changed = file;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    try {
      EXPECT_EQ(contents(changed), right) << "bit " << bit;  // in a field that does not matter
    } catch (const FormatError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(Zip, WritesWhatItReads) {
  const testing::ScratchFolder folder;
  const std::string path = folder.file("a.npz"), large(200'000, 'x');
  {
    runtime::AtomicFileWriter file(path);
    zip::Writer writer(file);
    for (const auto& [name, content] : {std::pair("größe", std::string()), std::pair("b", large)}) {
      writer.begin(name, content.size());
      writer.write(std::as_bytes(std::span(content).first(content.size() / 3)));
      writer.write(std::as_bytes(std::span(content).subspan(content.size() / 3)));
      writer.end();
    }
    EXPECT_THAT(refusal<Error>([&] { writer.begin(std::string(65536, 'n'), 0); }), HasSubstr("at most 65535"));
    writer.finish();
    file.commit();
  }
  const std::string file = testing::read_text(path);
  EXPECT_EQ(contents(file), (std::vector<std::string>{"", large}));
  EXPECT_EQ(directory(file)[0].name, "größe");
  // Checksums are also before the contents, for readers that read an archive sequentially.
  for (const zip::Entry& e : directory(file))
    EXPECT_EQ(file.substr(e.offset - 20 - e.name.size() - 16, 4), number(e.crc, 4)) << e.name;
}

}  // namespace
}  // namespace sinter
