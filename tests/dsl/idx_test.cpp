#include <sinter/data/idx.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <fstream>

#include <dsl/data/idx_format.hpp>
#include "../scratch.hpp"
#include "devices.hpp"
#include "npy_bytes.hpp"

namespace sinter {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::string_literals;
using sinter_tests::message_of;

/// `bytes` bytes of a number, the highest first.
std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  while (bytes-- > 0) text += static_cast<char>(value >> 8 * bytes & 0xFF);
  return text;
}
std::string idx_file(int code, const std::vector<std::uint32_t>& shape, std::string_view elements) {
  std::string file{'\0', '\0', static_cast<char>(code), static_cast<char>(shape.size())};
  for (const std::uint32_t extent : shape) file += big_endian(extent, 4);
  return file.append(elements);
}
std::string gzipped(const std::string& text) {
  z_stream stream{};
  ::deflateInit2(&stream, 9, Z_DEFLATED, 16 + 15, 9, Z_DEFAULT_STRATEGY);
  std::string packed(::deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

AnyTensor read(const std::string& file) {
  testing::Bytes source(file, "'t.idx'");
  return AnyTensor(detail::idx::read(source));
}
std::string refusal(const std::string& file) {
  return message_of<FormatError>([&] { read(file); });
}

TEST(Idx, EveryElementType) {
  EXPECT_THAT(read(idx_file(0x08, {3}, "\x01\x7F\xFF")).as<std::uint8_t>().to_vector(), ElementsAre(1, 127, 255));
  EXPECT_THAT(read(idx_file(0x09, {3}, "\x01\x7F\xFF")).as<std::int8_t>().to_vector(), ElementsAre(1, 127, -1));
  EXPECT_THAT(read(idx_file(0x0B, {2}, "\x01\x02\xFF\xFE")).as<std::int16_t>().to_vector(), ElementsAre(258, -2));
  EXPECT_THAT(read(idx_file(0x0C, {2}, "\x01\x02\x03\x04\xFF\xFF\xFF\xFD")).as<std::int32_t>().to_vector(),
              ElementsAre(0x01020304, -3));
  const std::string floats = big_endian(std::bit_cast<std::uint32_t>(1.5f), 4) + big_endian(0xFF800000u, 4);
  EXPECT_THAT(read(idx_file(0x0D, {2}, floats)).as<float>().to_vector(),
              ElementsAre(1.5f, -std::numeric_limits<float>::infinity()));
  const std::string doubles = big_endian(std::bit_cast<std::uint64_t>(-0.1), 8);
  EXPECT_THAT(read(idx_file(0x0E, {1}, doubles)).as<double>().to_vector(), ElementsAre(-0.1));
}

TEST(Idx, Shapes) {
  EXPECT_EQ(read(idx_file(8, {2, 3}, "abcdef")).shape(), (Shape{2, 3}));
  EXPECT_THAT(read(idx_file(8, {2, 3}, "abcdef")).as<std::uint8_t>()[1].to_vector(), ElementsAre('d', 'e', 'f'));
  EXPECT_EQ(read(idx_file(8, {}, "a")).shape(), Shape{});
  EXPECT_EQ(read(idx_file(8, {0, 5}, "")).shape(), (Shape{0, 5}));
  EXPECT_EQ(read(idx_file(8, {1, 1, 1, 1, 1, 1, 1, 2}, "ab")).dim(), 8);
}

TEST(Idx, WhatIsMalformed) {
  const std::string plain = idx_file(8, {2, 2}, "abcd");
  const struct {
    std::string file, message;
  } table[] = {
      {"", "not an IDX file: it is empty, but an IDX file begins with four bytes: two zeros, the element type"},
      {"\0"s, "not an IDX file: it begins with 0x00 ('\\x00') and ends there, but an IDX file begins with four bytes"},
      {"\0\0\x08"s, "not an IDX file: it begins with 0x000008 ('\\x00\\x00\\x08') and ends there, but"},
      {"\0\1\x08\1\0\0\0\0"s, "not an IDX file: it begins with 0x00010801 "},
      {"\x93NUMPY  ",
       "not an IDX file: it begins with 0x934e554d ('\\x93NUM'), but an IDX file begins with four bytes"},
      {"hi\n", "not an IDX file: it begins with 0x68690a ('hi\\x0a'), but"},
      {idx_file(0x07, {1}, "a"), "unknown element type 0x07 at byte 2"},
      {idx_file(0x0A, {1}, "ab"), "unknown element type 0x0a"},
      {idx_file(0xFF, {1}, "ab"), "unknown element type 0xff"},
      {idx_file(8, std::vector<std::uint32_t>(9, 1), "a"), "9 axes at byte 3; a tensor has up to 8"},
      {plain.substr(0, 7), "the extent of axis 0 takes 4 bytes from byte 4"},
      {plain.substr(0, 11), "the extent of axis 1 takes 4 bytes from byte 8"},
      {plain.substr(0, 15), "shape (2, 2) of uint8 takes 4 bytes, but 3 follow"},
      {plain + "e", "bytes after the array, which ends at byte 16"},
      {idx_file(0x0E, {2}, "12345678"), "shape (2,) of float64 takes 16 bytes, but 8 follow"},
      {idx_file(8, {0xFFFFFFFF}, "a"), "takes 4294967295 bytes"},
      {idx_file(8, {0xFFFFFFFF, 0xFFFFFFFF}, "a"), "is too large"},
      {idx_file(8, {0xFFFFFFFF, 0xFFFFFFFF, 0}, ""), "is too large"},
  };
  for (const auto& [file, message] : table)
    EXPECT_THAT(refusal(file), AllOf(HasSubstr("'t.idx': "), HasSubstr(message)));
}

TEST(Idx, PackedOnes) {
  const std::string plain = idx_file(8, {30, 100}, std::string(3000, 'x')), packed = gzipped(plain);
  ASSERT_LT(packed.size(), 100u);
  EXPECT_TRUE(equal(read(packed).as<std::uint8_t>(), full({30, 100}, std::uint8_t{'x'})));
  EXPECT_EQ(read(gzipped(plain.substr(0, 1000)) + gzipped(plain.substr(1000))).shape(), (Shape{30, 100}));
}

TEST(Idx, PackedOnesOfSomethingElse) {
  EXPECT_THAT(refusal(gzipped("<!DOCTYPE html>")), HasSubstr("not an IDX file: it begins with 0x3c21444f ('<!DO')"));
  EXPECT_THAT(refusal(gzipped("a")), HasSubstr("not an IDX file: it begins with 0x61 ('a'), but"));
  EXPECT_THAT(refusal(gzipped("")), HasSubstr("not an IDX file: it is empty"));
}

TEST(Idx, PackedOnesThatAreMalformed) {
  const std::string plain = idx_file(8, {30, 100}, std::string(3000, 'x')), packed = gzipped(plain);
  for (std::size_t size = 2; size < packed.size(); ++size)
    EXPECT_THAT(refusal(packed.substr(0, size)), HasSubstr("truncated")) << size;
  std::string damaged = packed;
  damaged[packed.size() - 8] ^= 1;  // the checksum
  EXPECT_THAT(refusal(damaged), HasSubstr("incorrect data check"));
  EXPECT_THAT(refusal(packed + "more"), HasSubstr("its compressed bytes are malformed"));
  EXPECT_THAT(refusal(gzipped(plain + "e")), HasSubstr("bytes after the array, which ends at byte 3012"));
  EXPECT_THAT(refusal(gzipped(plain.substr(0, 3000))),
              HasSubstr("the array takes 3000 bytes from byte 12, but the content ends at byte 3000"));
  EXPECT_THAT(refusal(gzipped(idx_file(8, {0xFFFFFFFF}, "a"))), HasSubstr("is the most that can be unpacked"));
}

class IdxFiles : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder.file(name), std::ios::binary) << bytes;
  }
  void write_mnist(const std::string& part, std::uint32_t images, std::uint32_t labels) {
    write(part + "-images-idx3-ubyte", idx_file(8, {images, 28, 28}, std::string(images * 784, '\x07')));
    write(part + "-labels-idx1-ubyte.gz", gzipped(idx_file(8, {labels}, std::string(labels, '\x09'))));
  }
  std::string mnist_refusal(bool train) {
    return message_of<FormatError>([&] { mnist(folder.path(), train); });
  }
  testing::ScratchFolder folder;
};

TEST_F(IdxFiles, ReadToEveryDevice) {
  write("a", idx_file(0x0B, {2}, "\x01\x02\x03\x04"));
  for (const Device device : sinter_tests::devices()) {
    const AnyTensor x = load_idx(folder.file("a"), device);
    EXPECT_EQ(x.device(), device);
    EXPECT_THAT(x.as<std::int16_t>().to_vector(), ElementsAre(0x0102, 0x0304));
  }
  EXPECT_THAT(message_of<FormatError>([&] { load_idx(folder.path() / "b"); }), HasSubstr("cannot read"));
}

TEST_F(IdxFiles, Mnist) {
  write_mnist("train", 5, 5);
  write_mnist("t10k", 2, 2);
  const ImageDataset train = mnist(folder.path()), test = mnist(folder.path(), false);
  EXPECT_EQ(train.size(), 5);
  EXPECT_EQ(test.size(), 2);
  const auto [image, label] = train[4];
  EXPECT_EQ(image.shape(), (Shape{28, 28}));
  EXPECT_EQ(image(3, 4).item(), 7);
  EXPECT_EQ(label.item(), 9);
}

TEST_F(IdxFiles, MnistThatIsNone) {
  EXPECT_THAT(mnist_refusal(true), AllOf(HasSubstr("train-images-idx3-ubyte' nor '"), HasSubstr("ubyte.gz'")));
  write_mnist("train", 5, 4);
  EXPECT_THROW(mnist(folder.path()), ShapeError);
  write("train-labels-idx1-ubyte", idx_file(0x0C, {1}, "1234"));  // before the packed one
  EXPECT_THAT(mnist_refusal(true), HasSubstr("train-labels-idx1-ubyte' holds int32 (1,), not uint8 of 1 axis"));
  write("train-images-idx3-ubyte", idx_file(8, {4}, "1234"));
  EXPECT_THAT(mnist_refusal(true), HasSubstr("holds uint8 (4,), not uint8 of 3 axes"));
}

}  // namespace
}  // namespace sinter
