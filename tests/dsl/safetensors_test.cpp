// Files by the Python library (tests/data/safetensors), read and written; and the semantics of the memory that they
// share.
#include <sinter/dsl/safetensors.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <sinter/sinter.hpp>
#include "../file_limit.hpp"
#include "../runtime/gpus.hpp"
#include "../scratch.hpp"
#include "tensor_files.hpp"

namespace sinter {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::cpu_and_gpu;
using ::testing::HasSubstr;
using testing::hex_of;
using testing::read_text;
using testing::refusal;
using testing::safetensors_file;
using testing::write_text;

std::string data_file(const std::string& name) { return testing::data_path("safetensors/" + name + ".safetensors"); }

class Safetensors : public ::testing::Test {
 protected:
  int files() const { return static_cast<int>(std::distance(fs::directory_iterator(folder.path()), {})); }
  testing::ScratchFolder folder;
  std::string path = folder.file("t.safetensors");
};

TEST_F(Safetensors, ReadsWhatPythonWrote) {
  EXPECT_GT(testing::files_of("safetensors").size(), 4u);
  for (const std::string& file : testing::files_of("safetensors"))
    for (const char* device : cpu_and_gpu) {
      SCOPED_TRACE(file + " on " + device);
      testing::expect_rows(load_safetensors(data_file(file), device), testing::rows_of("safetensors", file),
                           Device(device));
    }
  EXPECT_TRUE(load_safetensors(data_file("nothing")).empty());
}

TEST_F(Safetensors, WritesTheBytesOfPython) {
  std::vector<std::string> files = testing::files_of("safetensors");
  files.insert(files.end(), {"names", "nothing"});
  for (const std::string& file : files) {
    if (file.starts_with("hand_")) continue;
    const Metadata metadata = load_safetensors_metadata(data_file(file));
    for (const char* device : cpu_and_gpu) {
      const StateDict state = load_safetensors(data_file(file), device);
      // The order in which they are passed is not that of the file.
      std::vector<StateDict::Entry> turned(state.begin(), state.end());
      std::ranges::reverse(turned);
      save_safetensors(path, StateDict(turned), metadata);
      EXPECT_EQ(read_text(path), read_text(data_file(file))) << file << " on " << device;
    }
  }
  EXPECT_EQ(this->files(), 1);
}

TEST_F(Safetensors, NamesAndMetadataAreAnyText) {
  const StateDict state = load_safetensors(data_file("names"));
  const char* const names[] = {"", "\t\n\x01\x7f", "a b", "größe", "q\"\\/", "重み", "😀"};
  for (const char* name : names) EXPECT_TRUE(state.contains(name)) << name;
  EXPECT_EQ(state.size(), std::size(names));
  EXPECT_EQ(load_safetensors_metadata(data_file("names")), (Metadata{{"ключ", "a \"text\"\n"}}));
  EXPECT_EQ(load_safetensors_metadata(data_file("model")), (Metadata{{"format", "pt"}}));
  EXPECT_EQ(load_safetensors_metadata(data_file("shapes")), Metadata());
  const Metadata several{{"b", "1"}, {"a", ""}, {"重", "2"}};
  save_safetensors(path, state, several);
  EXPECT_EQ(load_safetensors_metadata(path), several);
  EXPECT_EQ(load_safetensors(path).size(), state.size());
}

TEST_F(Safetensors, AModelsNamesWithAndWithoutModule) {
  const StateDict state = load_safetensors(data_file("model")).without_prefix();
  EXPECT_EQ(state.at("fc1.weight").as<float>().to_vector()[11], 11.f / 8);
  EXPECT_EQ(state.at("bn.num_batches_tracked").as<std::int64_t>().item(), 7);
}

TEST_F(Safetensors, WhatSinterLacksIsRefusedByName) {
  int refused = 0;
  for (const testing::Row& row : testing::read_table("safetensors/files.tsv")) {
    if (!row[0].starts_with("refused_")) continue;
    const std::string text = refusal<DTypeError>([&] { load_safetensors(data_file(row[0])); });
    EXPECT_THAT(text, AllOf(HasSubstr(data_file(row[0])), HasSubstr(row[1]), HasSubstr(row[2])));
    ++refused;
  }
  EXPECT_EQ(refused, 2);
}

TEST_F(Safetensors, TensorsShareTheFilesMemoryAndLeaveTheFileAlone) {
  save_safetensors(path, {{"a", arange(4000).to<float>()}, {"b", arange(8).to<std::uint8_t>()}});
  const std::string before = read_text(path);
  const std::size_t in_use = memory_stats(cpu).in_use;
  const StateDict state = load_safetensors(path), again = load_safetensors(path);
  EXPECT_EQ(memory_stats(cpu).in_use, in_use);
  Tensor<float> a = state.at("a").as<float>();
  a += 1;
  a[0] = -5;
  state.at("b").as<std::uint8_t>().assign(9);
  EXPECT_EQ(a.sum().item(), 4000.f * 4001 / 2 - 6);
  EXPECT_EQ(again.at("a").as<float>()[1].item(), 1);
  EXPECT_EQ(read_text(path), before);
  EXPECT_FALSE(state.at("a").same_storage(state.at("b")));
}

TEST_F(Safetensors, TensorsOutliveTheStateAndTheFile) {
  const Tensor<float> expected = arange(100000).to<float>();
  save_safetensors(path, {{"a", expected}, {"b", expected}});
  Tensor<float> b = load_safetensors(path).at("b").as<float>();
  fs::remove(path);
  EXPECT_TRUE(equal(b, expected));
  const Tensor<float> tail = b.slice(0, 99990, 100000);
  b = Tensor<float>();
  EXPECT_EQ(tail.to_vector().back(), 99999);
}

TEST_F(Safetensors, AFileMayBeReplacedByWhatWasReadFromIt) {
  save_safetensors(path, {{"a", arange(5000).to<double>()}});
  StateDict state = load_safetensors(path);
  Tensor<double> a = state.at("a").as<double>();
  a *= 2;
  state["new"] = ones<float>({3});
  save_safetensors(path, state);
  EXPECT_EQ(a.to_vector()[4999], 9998);
  EXPECT_EQ(load_safetensors(path).at("a").as<double>().to_vector(), a.to_vector());
}

/// Kernels read vectors: memory after the last page of the file must not be touched.
TEST_F(Safetensors, TheLastElementMayEndAPage) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (const auto& [code, size, dtype] :
       {std::tuple("F32", 4u, DType::Float32), std::tuple("BF16", 2u, DType::BFloat16),
        std::tuple("I8", 1u, DType::Int8), std::tuple("BOOL", 1u, DType::Bool), std::tuple("C64", 8u, DType::Complex64),
        std::tuple("I64", 8u, DType::Int64), std::tuple("I16", 2u, DType::Int16)})
    for (std::size_t count : {1, 3, 7, 13, 21, 61}) {
      std::string json =
          fmt::format(R"({{"a":{{"dtype":"{}","shape":[{}],"data_offsets":[0,{}]}}}})", code, count, count * size);
      json.append(page - 8 - json.size() - count * size, ' ');
      write_text(path, safetensors_file(json, std::string(count * size, '\1')));
      ASSERT_EQ(fs::file_size(path), page);
      const AnyTensor a = load_safetensors(path).at("a");
      ASSERT_EQ(a.dtype(), dtype);
      EXPECT_EQ(hex_of(a.clone()), hex_of(a));
      EXPECT_EQ(hex_of(is_complex(dtype) ? a : AnyTensor(Tensor(maximum(a, a)))), hex_of(a));
      EXPECT_EQ(hex_of(a.to(Device(0))), hex_of(a));
    }
}

TEST_F(Safetensors, ViewsAndExpressionsValuesAreWritten) {
  const Tensor<float> m = arange(6).to<float>().reshape({2, 3});
  for (const char* device : cpu_and_gpu) {
    const Tensor<float> x = m.to(Device(device));
    save_safetensors(path,
                     {{"turned", x.t()}, {"column", x.slice(1, 1, 2)}, {"wide", x.slice(0, 0, 1).expand({3, 3})}});
    const StateDict back = load_safetensors(path);
    EXPECT_EQ(back.at("turned").as<float>().to_vector(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(back.at("column").as<float>().to_vector(), (std::vector<float>{1, 4}));
    EXPECT_EQ(back.at("wide").as<float>().to_vector(), (std::vector<float>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
  }
}

TEST_F(Safetensors, WhatCannotBeWrittenLeavesNoFile) {
  StateDict state{{"a", ones<float>({2})}};
  state["hole"];
  EXPECT_THAT(refusal<Error>([&] { save_safetensors(path, state); }), HasSubstr("'hole': the tensor is undefined"));
  const StateDict wide{{"z", zeros<std::complex<double>>({2})}};
  EXPECT_THAT(refusal<DTypeError>([&] { save_safetensors(path, wide); }),
              AllOf(HasSubstr("'z'"), HasSubstr("complex128"), HasSubstr("real()")));
  EXPECT_THAT(refusal<Error>([&] { save_safetensors(path, {{"__metadata__", ones<float>({1})}}); }),
              HasSubstr("__metadata__"));
  EXPECT_THAT(refusal<Error>([&] { save_safetensors(path, {{"a\xff", ones<float>({1})}}); }),
              AllOf(HasSubstr("a\\xff"), HasSubstr("UTF-8")));
  EXPECT_THAT(refusal<Error>([&] { save_safetensors(path, {}, {{"key", "\xc3"}}); }), HasSubstr("UTF-8"));
  EXPECT_THAT(refusal<Error>([&] { save_safetensors(path, {}, {{"key", "1"}, {"key", "2"}}); }),
              HasSubstr("'key' twice"));
  EXPECT_THAT(refusal<FormatError>([&] { save_safetensors(folder.path() / "none" / "a", {}); }),
              AllOf(HasSubstr("cannot write"), HasSubstr("No such file")));
  EXPECT_EQ(files(), 0);
}

TEST_F(Safetensors, AFullDiskLeavesTheOldFile) {
  save_safetensors(path, {{"a", ones<float>({2})}});
  const std::string before = read_text(path);
  const StateDict large{{"small", ones<float>({2})}, {"large", ones<double>({100000})}};
  for (const rlim_t limit : testing::file_limits)
    EXPECT_EQ(testing::under_file_limit(
                  limit,
                  [&] {
                    const std::string text = refusal<FormatError>([&] { save_safetensors(path, large); });
                    return ::testing::Value(
                               text, AllOf(HasSubstr("cannot write"), HasSubstr(path), HasSubstr("File too large")))
                               ? 0
                               : 1;
                  }),
              0);
  EXPECT_EQ(read_text(path), before);
  EXPECT_EQ(files(), 1);
}

TEST_F(Safetensors, FilesThatCannotBeRead) {
  EXPECT_THAT(refusal<FormatError>([&] { load_safetensors(folder.file("none")); }), HasSubstr("No such file"));
  EXPECT_THAT(refusal<FormatError>([&] { load_safetensors(folder.path()); }), HasSubstr("it is a directory"));
  write_text(path, "");
  EXPECT_THAT(refusal<FormatError>([&] { load_safetensors(path); }), HasSubstr("it has 0 bytes"));
  EXPECT_THROW(load_safetensors(data_file("model"), Device(77)), DeviceError);
}

TEST_F(Safetensors, ThreadsReadOneFileWhileItIsReplaced) {
  const auto numbered = [](float value) {
    return StateDict{{"a", full<float>({5000}, value)}, {"b", full<float>({7}, value)}};
  };
  save_safetensors(path, numbered(0));
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (int i = 0; i < 20; ++i) {
        if (k == 0) save_safetensors(path, numbered(static_cast<float>(i)));
        const StateDict state = load_safetensors(path, cpu_and_gpu[k % 2]);
        const std::vector<float> a = state.at("a").as<float>().to_vector();
        EXPECT_EQ(a, std::vector<float>(5000, a[0]));
        EXPECT_EQ(state.at("b").as<float>().to_vector(), std::vector<float>(7, a[0]));
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace sinter
