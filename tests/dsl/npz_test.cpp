// Files by numpy.savez (tests/data/npz), read and written.
#include <sinter/dsl/npz.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <dsl/files/npz_format.hpp>
#include <sinter/sinter.hpp>
#include "../runtime/gpus.hpp"
#include "../scratch.hpp"
#include "tensor_files.hpp"

namespace sinter {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::cpu_and_gpu;
using ::testing::HasSubstr;
using testing::read_text;
using testing::refusal;

std::string data_file(const std::string& name) { return testing::data_path("npz/" + name + ".npz"); }

class Npz : public ::testing::Test {
 protected:
  int files() const { return static_cast<int>(std::distance(fs::directory_iterator(folder.path()), {})); }
  testing::ScratchFolder folder;
  std::string path = folder.file("t.npz");
};

TEST_F(Npz, ReadsWhatNumPyWrote) {
  EXPECT_GT(testing::files_of("npz").size(), 3u);
  for (const std::string& file : testing::files_of("npz"))
    for (const char* device : cpu_and_gpu) {
      SCOPED_TRACE(file + " on " + device);
      testing::expect_rows(load_npz(data_file(file), device), testing::rows_of("npz", file), Device(device));
    }
  EXPECT_TRUE(load_npz(data_file("nothing")).empty());
}

TEST_F(Npz, ReadsWhatItWrites) {
  for (const std::string& file : testing::files_of("npz"))
    for (const char* device : cpu_and_gpu) {
      SCOPED_TRACE(file + " on " + device);
      save_npz(path, load_npz(data_file(file), device));
      testing::expect_rows(load_npz(path), testing::rows_of("npz", file), Device());
    }
  save_npz(path, {});
  EXPECT_TRUE(load_npz(path).empty());
  EXPECT_EQ(read_text(path), read_text(data_file("nothing")));
  EXPECT_EQ(files(), 1);
}

TEST_F(Npz, AnArrayInFortranOrderStaysSo) {
  save_npz(path, load_npz(data_file("stored")));
  EXPECT_EQ(load_npz(path).at("turned").strides(), (Shape{1, 2}));
}

TEST_F(Npz, NamesAreKept) {
  const StateDict state{
      {"a.npy", ones<float>({1})}, {"a", ones<float>({2})}, {"", ones<float>({3})}, {"x/y 重", ones<half>({})}};
  save_npz(path, state);
  const StateDict back = load_npz(path);
  ASSERT_EQ(back.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(back.begin()[i].name, state.begin()[i].name);
  EXPECT_EQ(back.at("").numel(), 3);
}

TEST_F(Npz, WhatSinterDoesNotReadIsRefusedByName) {
  int refused = 0;
  for (const testing::Row& row : testing::read_table("npz/files.tsv")) {
    if (!row[0].starts_with("refused_")) continue;
    const std::string text = refusal<Error>([&] { load_npz(data_file(row[0])); });
    EXPECT_THAT(text, AllOf(HasSubstr(data_file(row[0])), HasSubstr(row[1]), HasSubstr(row[2])));
    ++refused;
  }
  EXPECT_EQ(refused, 4);
}

TEST_F(Npz, WhatCannotBeWrittenLeavesNoFile) {
  StateDict state{{"fine", ones<float>({2})}, {"b", ones<bfloat16>({2})}};
  EXPECT_THAT(refusal<DTypeError>([&] { save_npz(path, state); }),
              AllOf(HasSubstr("cannot save 'b'"), HasSubstr("no bfloat16"), HasSubstr(".to<float>()")));
  state.erase("b");
  state["hole"];
  EXPECT_THAT(refusal<Error>([&] { save_npz(path, state); }), HasSubstr("'hole': the tensor is undefined"));
  EXPECT_THAT(refusal<Error>([&] { save_npz(path, {{std::string(65536, 'n'), ones<float>({1})}}); }),
              HasSubstr("at most 65535"));
  for (const char* name : {"\xFF", "caf\xE9", "\xC3", "\xED\xA0\x80", "\xC0\xAF"})
    EXPECT_THAT(refusal<FormatError>([&] { save_npz(path, {{"fine", ones<float>({1})}, {name, ones<float>({1})}}); }),
                AllOf(HasSubstr("\\x"), HasSubstr("is not UTF-8"), HasSubstr("Give the tensor a name in UTF-8")));
  EXPECT_THAT(refusal<FormatError>([&] { save_npz(path, {{std::string("a\0b", 3), ones<float>({1})}}); }),
              HasSubstr("cannot save 'a\\x00b': this name has a byte of 0"));
  EXPECT_THAT(refusal<FormatError>([&] { save_npz(folder.path(), {}); }), HasSubstr("it is a directory"));
  EXPECT_EQ(files(), 0);
  save_npz(path, {{"caf\xC3\xA9", ones<float>({1})}});
  EXPECT_TRUE(load_npz(path).contains("caf\xC3\xA9"));
}

TEST_F(Npz, ArraysLongerThanAChunk) {
  const std::int64_t count = 2 * static_cast<std::int64_t>(detail::chunk_bytes) / 8 + 17;
  const Tensor<std::int64_t> x = arange(count);
  for (const char* device : cpu_and_gpu) {
    save_npz(path, {{"x", x.to(Device(device))}, {"y", x.slice(0, 0, 3)}});
    const StateDict back = load_npz(path, device);
    EXPECT_TRUE(equal(back.at("x").as<std::int64_t>().cpu(), x));
    EXPECT_EQ(back.at("y").numel(), 3);
  }
}

TEST_F(Npz, ADamagedFileIsRefusedWithTheEntrysName) {
  for (const char* name : {"stored", "deflated"}) {
    std::string file = read_text(data_file(name));
    const std::size_t at = file.find("layer/0.weight.npy") + 18 + 20 + 100;  // after the header of its entry
    file[at] = static_cast<char>(file[at] ^ 0x10);
    testing::Bytes source(file, "'t.npz'");
    EXPECT_THAT(refusal<FormatError>([&] { detail::npz::read(source, Device()); }),
                HasSubstr("'t.npz', entry 'layer/0.weight.npy': "));
  }
}

TEST_F(Npz, TwoArraysOfOneName) {
  save_npz(path, {{"a", ones<float>({1})}, {"b", ones<float>({1})}});
  std::string file = read_text(path);
  for (std::size_t at; (at = file.find("b.npy")) != std::string::npos;) file[at] = 'a';
  testing::Bytes source(file, "'t.npz'");
  EXPECT_THAT(refusal<FormatError>([&] { detail::npz::read(source, Device()); }),
              HasSubstr("there are two arrays 'a'"));
}

TEST_F(Npz, FilesThatCannotBeRead) {
  EXPECT_THAT(refusal<FormatError>([&] { load_npz(folder.file("none")); }), HasSubstr("No such file"));
  EXPECT_THAT(refusal<FormatError>([] { load_npz(testing::data_path("npy/i8.npy")); }),
              AllOf(HasSubstr("i8.npy"), HasSubstr("no end record")));
  EXPECT_THROW(load_npz(data_file("stored"), Device(77)), DeviceError);
}

}  // namespace
}  // namespace sinter
