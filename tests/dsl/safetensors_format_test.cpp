// Everything that a safetensors file can get wrong, each with what its message says.
#include <dsl/files/safetensors_format.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sinter/runtime/error.hpp>
#include "../scratch.hpp"
#include "npy_bytes.hpp"
#include "tensor_files.hpp"

namespace sinter {
namespace {

using detail::safetensors::Header;
using detail::safetensors::TensorEntry;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::refusal;
using testing::safetensors_file;

Header read(std::string_view file) {
  testing::Bytes source(file, "'t.safetensors'");
  return detail::safetensors::read_header(source);
}

std::string data_text(const char* name) {
  return testing::read_text(testing::data_path(fmt::format("safetensors/{}.safetensors", name)));
}

TEST(SafetensorsFormat, SaysWhatIsWhere) {
  const Header header = read(
      safetensors_file(R"({"__metadata__":{"k":"v","":"w"},"b":{"shape":[2,3],"data_offsets":[2,26],"dtype":"F32"},)"
                       R"("a":{"dtype":"F16","shape":[],"data_offsets":[0,2]}})",
                       std::string(26, '\0')));
  ASSERT_EQ(header.entries.size(), 2u);
  EXPECT_EQ(header.entries[0].name, "b");
  EXPECT_EQ(header.entries[0].dtype, DType::Float32);
  EXPECT_EQ(header.entries[0].shape, (Shape{2, 3}));
  EXPECT_EQ(header.entries[0].begin, 2u);
  EXPECT_EQ(header.entries[0].end, 26u);
  EXPECT_EQ(header.entries[1].shape, Shape());
  EXPECT_EQ(header.metadata, (Metadata{{"k", "v"}, {"", "w"}}));
  EXPECT_EQ(header.data_offset % 2, 8 % 2 + (header.data_offset - 8) % 2);
}

TEST(SafetensorsFormat, HeadersThatSayNothingUsable) {
  const struct {
    const char* json;
    const char* expected;
  } cases[] = {
      {"", "malformed at byte 8: "},
      {"[]", "expected an object, found a list"},
      {"7", "expected an object, found a number"},
      {"{", "malformed at byte 9: syntax error"},
      {"{} x", "malformed at byte 11: syntax error"},
      {"{}{}", "malformed at byte 10: syntax error"},
      {R"({"a":1})", "expected an object for 'a', found a number"},
      {R"({"a":null})", "expected an object for 'a', found null"},
      {R"({"a":[]})", "expected an object for 'a', found a list"},
      {R"({"a":["F32",[],[0,4]]})", "expected an object for 'a', found a list"},
      {R"({"a":{}})", "tensor 'a' lacks the key 'dtype'"},
      {R"({"a":{"dtype":"F32"}})", "tensor 'a' lacks the key 'shape'"},
      {R"({"a":{"dtype":"F32","shape":[]}})", "tensor 'a' lacks the key 'data_offsets'"},
      {R"({"a":{"dtype":7}})", "expected a string for 'dtype' of tensor 'a', found a number"},
      {R"({"a":{"dtype":{}}})", "expected a string for 'dtype' of tensor 'a', found an object"},
      {R"({"a":{"dtype":"F32","dtype":"F32"}})", "tensor 'a' has the key 'dtype' twice"},
      {R"({"a":{"shape":[],"shape":[]}})", "tensor 'a' has the key 'shape' twice"},
      {R"({"a":{"data_offsets":[0,0],"data_offsets":[0,0]}})", "tensor 'a' has the key 'data_offsets' twice"},
      {R"({"a":{"device":"cuda"}})", "tensor 'a' has the unknown key 'device'; the keys are 'dtype'"},
      {R"({"a":{"shape":3}})", "expected a list of integers from 0 to 2^63 - 1 for 'shape' of tensor 'a', found a"},
      {R"({"a":{"shape":[-1]}})", "'shape' of tensor 'a', found -1"},
      {R"({"a":{"shape":[1.5]}})", "'shape' of tensor 'a', found 1.5"},
      {R"({"a":{"shape":[9223372036854775808]}})", "found 9223372036854775808"},
      {R"({"a":{"shape":[99999999999999999999]}})", "found 99999999999999999999"},
      {R"({"a":{"shape":[[2]]}})", "'shape' of tensor 'a', found a list"},
      {R"({"a":{"shape":["2"]}})", "'shape' of tensor 'a', found a string"},
      {R"({"a":{"shape":[true]}})", "'shape' of tensor 'a', found true"},
      {R"({"a":{"shape":[1,1,1,1,1,1,1,1,1]}})", "tensor 'a' has more than 8 dimensions"},
      {R"({"a":{"data_offsets":[0]}})", "expected a list of two integers for 'data_offsets' of tensor 'a', found"},
      {R"({"a":{"data_offsets":[]}})", "found a list of 0"},
      {R"({"a":{"data_offsets":[0,1,2]}})", "'data_offsets' of tensor 'a', found more of them"},
      {R"({"__metadata__":[]})", "expected an object for '__metadata__', found a list"},
      {R"({"__metadata__":{"k":1}})", "expected a string for 'k' of __metadata__, found a number"},
      {R"({"__metadata__":{"k":{}}})", "expected a string for 'k' of __metadata__, found an object"},
      {R"({"__metadata__":{},"__metadata__":{}})", "the key '__metadata__' occurs twice"},
      {R"({"__metadata__":{"k":"","j":"","k":""}})", "the metadata has the key 'k' twice"},
      {"{\"a\xff\":{}}",
       "malformed at byte 11: syntax error while parsing object key - invalid string: ill-formed UTF-8"},
      {"{\"a\\u0001\n\":{}}", "malformed at byte 17"},
      {"{\"a\\ud800\":{}}", "malformed at byte 17"},
      {R"({"a\u0000b\n":{}})", "tensor 'a\\x00b\\x0a' lacks the key 'dtype'"},
      {R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},})", "malformed at byte 61"},
      {R"({"a":NaN})", "malformed at byte 13"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(refusal<FormatError>([&] { read(safetensors_file(c.json)); }),
                AllOf(HasSubstr("'t.safetensors': "), HasSubstr(c.expected)))
        << c.json;
}

TEST(SafetensorsFormat, TensorsThatDoNotFitTheData) {
  const auto tensor = [](const char* name, const char* dtype, const char* shape, const char* offsets) {
    return fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{}]}})", name, dtype, shape, offsets);
  };
  const struct {
    std::string tensors;
    std::size_t bytes;
    const char* expected;
  } cases[] = {
      {tensor("a", "F32", "2", "0,4"), 4,
       "tensor 'a' of shape (2,) and float32 takes 8 bytes, but its data_offsets are [0, 4]"},
      {tensor("a", "F32", "1", "4,0"), 4, "data_offsets are [4, 0]"},
      {tensor("a", "BOOL", "", "0,0"), 0, "takes 1 bytes, but its data_offsets are [0, 0]"},
      {tensor("a", "U8", "3", "0,3") + "," + tensor("b", "U8", "3", "2,5"), 5,
       "tensor 'b' begins at byte 2 of the data, but tensor 'a' ends at 3: they overlap"},
      {tensor("a", "U8", "3", "0,3") + "," + tensor("b", "U8", "3", "0,3"), 3, "they overlap"},
      {tensor("b", "U8", "1", "4,5") + "," + tensor("a", "U8", "3", "0,3"), 5,
       "tensor 'b' begins at byte 4 of the data, but tensor 'a' ends at 3: the bytes between belong to no tensor"},
      {tensor("a", "U8", "1", "1,2"), 2, "begins at byte 1 of the data, but the data begins at 0: the bytes between"},
      {tensor("a", "U8", "0", "4,4"), 0, "tensor 'a' begins at byte 4"},
      {tensor("a", "F32", "1", "0,4"), 3, "truncated: its tensors take 4 bytes from byte"},
      {tensor("a", "F32", "1", "0,4"), 5, "there are bytes after the last tensor: its tensors take 4 bytes"},
      {"", 1, "there are bytes after the last tensor: its tensors take 0 bytes from byte 10"},
      {tensor("a", "U8", "1", "0,1") + "," + tensor("a", "U8", "1", "1,2"), 2, "there are two tensors 'a'"},
      {tensor("a", "F64", "1152921504606846976", "0,0"), 0, "too large"},
      {tensor("a", "U8", "4294967296,4294967296", "0,0"), 0, "too large"},
      {tensor("a", "U8", "0,9223372036854775807,2", "0,0"), 0, "too large"},
      {tensor("a", "U8", "9223372036854775807", "0,9223372036854775807"), 9, "truncated"},
      {tensor("a", "I8", "1", "18446744073709551615,18446744073709551615"), 9, "takes 1 bytes, but its data_offsets"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(
        refusal<FormatError>([&] { read(safetensors_file("{" + c.tensors + "}", std::string(c.bytes, '\0'))); }),
        AllOf(HasSubstr("'t.safetensors': "), HasSubstr(c.expected)))
        << c.tensors;
}

TEST(SafetensorsFormat, DtypesThatSinterLacks) {
  for (const auto& [code, hint] :
       {std::pair("F4", "torch.float16"), std::pair("F8_E5M2", "torch.float16"), std::pair("C128", "torch.complex64"),
        std::pair("f32", "torch.float16"), std::pair("", "torch.float16")}) {
    const std::string json = fmt::format(R"({{"w":{{"dtype":"{}","shape":[],"data_offsets":[0,0]}}}})", code);
    EXPECT_THAT(refusal<DTypeError>([&] { read(safetensors_file(json)); }),
                AllOf(HasSubstr(fmt::format("tensor 'w' has the dtype '{}'", code)), HasSubstr("Sinter reads BOOL"),
                      HasSubstr(hint)));
  }
}

TEST(SafetensorsFormat, WhatIsNoSuchFile) {
  EXPECT_THAT(refusal<FormatError>([] { read(""); }), HasSubstr("it has 0 bytes"));
  EXPECT_THAT(refusal<FormatError>([] { read("1234567"); }), HasSubstr("it has 7 bytes"));
  EXPECT_THAT(refusal<FormatError>([] { read("PK\3\4 a zip file, as PyTorch's own are"); }),
              HasSubstr("not a safetensors file: it begins with a header's length"));
  EXPECT_THAT(refusal<FormatError>([] { read(std::string("\x01\xE1\xF5\x05\0\0\0\0", 8)); }),
              HasSubstr("100000001 bytes"));
  EXPECT_THAT(refusal<FormatError>([] { read(std::string("\0\xE1\xF5\x05\0\0\0\0{}", 10)); }),
              HasSubstr("truncated: the header takes 100000000 bytes from byte 8, but the file ends at byte 10"));
}

TEST(SafetensorsFormat, DeepAndLongHeadersTakeNoMoreThanTheyAre) {
  EXPECT_THAT(refusal<FormatError>([] { read(safetensors_file(std::string(1'000'000, '['))); }),
              HasSubstr("found a list"));
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "{\"a\":";
  EXPECT_THAT(refusal<FormatError>([&] { read(safetensors_file(nested)); }),
              HasSubstr("tensor 'a' has the unknown key 'a'"));
  EXPECT_THAT(refusal<FormatError>([] { read(safetensors_file("{\"" + std::string(1'000'000, 'n') + "\":1}")); }),
              HasSubstr("nnn...', found a number"));
}

TEST(SafetensorsFormat, EveryTruncationIsRefused) {
  for (const char* name : {"dtypes", "model", "names", "hand_unaligned"}) {
    const std::string file = data_text(name);
    for (std::size_t length = 0; length < file.size(); ++length)
      refusal<FormatError>([&] { read(std::string_view(file).substr(0, length)); });
  }
}

TEST(SafetensorsFormat, EveryFlippedBitReadsOrIsRefused) {
  for (const char* name : {"dtypes", "model", "names"}) {
    const std::string file = data_text(name);
    int refused = 0;
    for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
      std::string changed = file;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
      try {
        for (const TensorEntry& part : read(changed).entries) EXPECT_LE(part.end, file.size());
      } catch (const FormatError&) {
        ++refused;
      } catch (const DTypeError&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 1000) << name;
  }
}

TEST(SafetensorsFormat, WritesWhatItReads) {
  const std::vector<TensorEntry> parts{{"é\"\\\x01\x7f\n/", DType::BFloat16, Shape{2, 3}, 0, 12},
                                       {"", DType::Bool, Shape{}, 12, 13}};
  const std::string text = detail::safetensors::header_text(parts, {{"a", "b"}, {"c", ""}});
  EXPECT_EQ(text.size() % 8, 0u);
  EXPECT_EQ(text.substr(8),
            "{\"__metadata__\":{\"a\":\"b\",\"c\":\"\"},"
            "\"é\\\"\\\\\\u0001\x7f\\n/\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]},"
            "\"\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[12,13]}}" +
                std::string(text.size() - text.find_last_of('}') - 1, ' '));
  const Header header = read(text + std::string(13, '\0'));
  EXPECT_EQ(header.entries[0].name, parts[0].name);
  EXPECT_EQ(header.entries[1].shape, parts[1].shape);
  EXPECT_EQ(header.metadata, (Metadata{{"a", "b"}, {"c", ""}}));
  EXPECT_EQ(detail::safetensors::header_text({}, {}), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
}

TEST(SafetensorsFormat, AHeaderTooLongToBeReadIsNotWritten) {
  const std::vector<TensorEntry> parts{{std::string(100'000'000, 'n'), DType::Float32, Shape{}, 0, 4}};
  EXPECT_THAT(refusal<FormatError>([&] { detail::safetensors::header_text(parts, {}); }),
              AllOf(HasSubstr("1 tensors"), HasSubstr("100000000 at most")));
}

}  // namespace
}  // namespace sinter
