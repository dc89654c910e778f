// .npy files against those that NumPy wrote (tests/data/npy), and against everything that a file can get wrong.
#include <sinter/dsl/npy.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include <sinter/dsl/npz.hpp>
#include <sinter/jit/evaluate.hpp>
#include <sinter/runtime/backend.hpp>
#include "../file_limit.hpp"
#include "../runtime/gpus.hpp"
#include "npy_bytes.hpp"
#include "table.hpp"

namespace sinter {
namespace {

namespace fs = std::filesystem;
using runtime::TensorRef;
using ::testing::AllOf;
using testing::Bytes;
using testing::cpu_and_gpu;
using ::testing::HasSubstr;
using testing::npy_file;

/// The elements, row-major.
std::string elements(const TensorRef& t) {
  const TensorRef packed = jit::contiguous(*jit::to(*t, t->dtype, Device()));
  return {reinterpret_cast<const char*>(packed->data), static_cast<std::size_t>(t->numel) * size_of(t->dtype)};
}

std::string file_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// The message of the error that f throws.
template <class E, class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another exception: " << e.what();
    return "";
  }
  ADD_FAILURE() << "no exception";
  return "";
}

TensorRef read(std::string_view file) {
  Bytes source(file);
  return detail::npy::read(source, Device());
}

class Npy : public ::testing::Test {
 protected:
  Npy() {
    std::string name = (fs::temp_directory_path() / "sinter-npy-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Npy() override { fs::remove_all(folder_); }
  fs::path path(const std::string& name) const { return folder_ / name; }
  int files() const { return static_cast<int>(std::distance(fs::directory_iterator(folder_), {})); }
  TensorRef small() const { return testing::host_tensor(DType::Int32, Shape{3}, {1, 2, 3}); }

  fs::path folder_;
};

TEST_F(Npy, ReadsWhatNumPyWrote) {
  for (const testing::Row& row : testing::read_table("npy/files.tsv")) {
    const std::string file = testing::data_path("npy/" + row[0] + ".npy");
    for (const char* device : cpu_and_gpu) {
      SCOPED_TRACE(row[0] + " on " + device);
      if (row[0].starts_with("refused_")) {
        const std::string text = message<Error>([&] { detail::load_npy(file, Device(device)); });
        EXPECT_THAT(text, AllOf(HasSubstr(file), HasSubstr(row[3]), HasSubstr("byte")));
        continue;
      }
      const TensorRef t = detail::load_npy(file, Device(device));
      const Shape shape = testing::parse_shape(row[2]);
      const DType dtype = testing::dtype_named(row[1]);
      EXPECT_EQ(t->device, Device(device));
      ASSERT_EQ(t->dtype, dtype);
      ASSERT_EQ(t->shape, shape);
      const std::vector<std::uint64_t> bits = testing::parse_bits(row.size() > 3 ? row[3] : "");
      EXPECT_EQ(elements(t), elements(testing::host_tensor(dtype, shape, bits)));
    }
  }
}

TEST_F(Npy, WritesTheBytesOfNumPy) {
  for (const testing::Row& row : testing::read_table("npy/files.tsv")) {
    const std::string& name = row[0];
    if (name.starts_with("refused_") || name.starts_with("big_") || name.starts_with("format")) continue;
    const fs::path original = testing::data_path("npy/" + name + ".npy");
    for (const char* device : cpu_and_gpu) {
      detail::save_npy(path("out.npy"), *detail::load_npy(original, Device(device)));
      EXPECT_EQ(file_bytes(path("out.npy")), file_bytes(original)) << name << " on " << device;
    }
  }
  EXPECT_EQ(files(), 1);
}

TEST_F(Npy, NamesAreStringsOrPaths) {
  struct Native {  // as std::filesystem::path has it
    std::string native() const { return name; }
    std::string name;
  };
  const std::string name = path("named.npy").string();
  detail::save_npy(Native{name}, *testing::host_tensor(DType::Int64, Shape(2), {1, 2}));
  const std::string_view view = name;
  EXPECT_EQ(detail::load_npy(name, Device())->numel, 2);
  EXPECT_EQ(detail::load_npy(view, Device())->numel, 2);
  EXPECT_EQ(detail::load_npy(name.c_str(), Device())->numel, 2);
  EXPECT_EQ(detail::load_npy(fs::path(name), Device())->numel, 2);
}

TEST_F(Npy, RoundTripsOfRandomShapesAndViews) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 60; ++i) {
    const DType any = static_cast<DType>(random() % real_dtype_count);
    const DType dtype = any == DType::BFloat16 ? DType::Float16 : any;  // which the format lacks
    Shape shape;
    for (std::uint64_t ndim = random() % 5; ndim > 0; --ndim) shape.push_back(static_cast<std::int64_t>(random() % 8));
    std::vector<std::uint64_t> bits(101);
    for (std::uint64_t& b : bits) b = dtype == DType::Bool ? random() & 1 : random();
    TensorRef t = testing::host_tensor(dtype, shape, bits);
    if (shape.ndim() > 1 && random() % 2) {
      std::swap(t->shape[0], t->shape[shape.ndim() - 1]);
      std::swap(t->strides[0], t->strides[shape.ndim() - 1]);
      t = runtime::view(*t, t->shape, t->strides);
    }
    const Device device(cpu_and_gpu[i % 2]);
    detail::save_npy(path("t.npy"), *jit::to(*t, dtype, device));
    const TensorRef back = detail::load_npy(path("t.npy"), device);
    EXPECT_EQ(back->shape, t->shape);
    EXPECT_EQ(back->dtype, dtype);
    EXPECT_EQ(elements(back), elements(t));
  }
}

TEST_F(Npy, ViewsAreWrittenAsTheirElements) {
  const TensorRef t = testing::host_tensor(DType::Int32, Shape{6}, {0, 1, 2, 3, 4, 5});
  const struct {
    Shape shape, strides;
    std::int64_t offset;
    std::vector<std::uint64_t> expected;
  } views[] = {{{3}, {2}, 1, {1, 3, 5}},
               {{6}, {-1}, 5, {5, 4, 3, 2, 1, 0}},
               {{2, 3}, {0, 1}, 2, {2, 3, 4, 2, 3, 4}},
               {{2, 2}, {1, 3}, 0, {0, 3, 1, 4}},
               {{2, 1, 2}, {1, 9, 2}, 1, {1, 3, 2, 4}},
               {{}, {}, 4, {4}}};
  for (const char* device : cpu_and_gpu)
    for (const auto& v : views) {
      detail::save_npy(path("v.npy"),
                       *runtime::view(*jit::to(*t, t->dtype, Device(device)), v.shape, v.strides, v.offset));
      EXPECT_EQ(elements(detail::load_npy(path("v.npy"), Device())),
                elements(testing::host_tensor(DType::Int32, v.shape, v.expected)));
    }
}

TEST_F(Npy, ArraysLongerThanAChunk) {
  std::vector<std::uint64_t> bits(1009);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = i * 0x9E3779B97F4A7C15u;
  const std::int64_t count = 2 * static_cast<std::int64_t>(detail::chunk_bytes) / 8 + 17;
  const TensorRef t = testing::host_tensor(DType::Int64, Shape{count}, bits);
  for (const char* device : cpu_and_gpu) {
    detail::save_npy(path("long.npy"), *jit::to(*t, t->dtype, Device(device)));
    EXPECT_EQ(elements(detail::load_npy(path("long.npy"), Device(device))), elements(t));
  }
}

TEST_F(Npy, BoolsAreZeroOrOneWhateverTheFileHolds) {
  const TensorRef t =
      read(npy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }\n", std::string("\0\1\2\xFF", 4)));
  EXPECT_EQ(elements(t), std::string("\0\1\1\1", 4));
}

TEST_F(Npy, ReadsEveryWayToWriteTheHeader) {
  const std::string data(16, '\1');
  for (const char* text : {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }",
                           "{'shape':(4,),'descr':'<f4','fortran_order':False}",
                           "  {\"descr\": \"<f4\",\n\t'fortran_order' : False , 'shape': ( 4 , ) }  \n",
                           "{'descr': 'f4', 'fortran_order': True, 'shape': (4L,)}",
                           "{'descr': '=f4', 'fortran_order': False, 'shape': (2, 2,), }"})
    for (int major : {1, 2, 3}) EXPECT_EQ(elements(read(npy_file(text, data, major))), data) << text;
}

TEST_F(Npy, BytesBehindTheArrayAreLeftAlone) {
  const std::string file = file_bytes(testing::data_path("npy/i8.npy"));
  EXPECT_EQ(elements(read(file + "another array")), elements(read(file)));
}

TEST_F(Npy, MalformedHeadersSayWhereAndWhat) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"", "at byte 10: expected a dictionary, found the header's end"},
      {"[]", "at byte 10: expected a dictionary, found '[]'"},
      {"{}", "lacks the key 'descr'"},
      {"{'descr': '<f4'}", "lacks the key 'fortran_order'"},
      {"{'descr': '<f4', 'fortran_order': True}", "lacks the key 'shape'"},
      {"{'descr': '<f4', 'descr': '<f4'}", "at byte 27: expected each of the keys"},
      {"{'other': 1}", "at byte 11: expected each of the keys"},
      {"{descr: '<f4'}", "at byte 11: expected a quoted string, found 'descr"},
      {"{'descr' '<f4'}", "at byte 19: expected ':' after a key"},
      {"{'descr': '<f4' 'shape': ()}", "expected ',' or '}' after a value"},
      {"{'descr': '<f4", "expected the string's closing quote, found the header's end"},
      {"{'descr': '<f\\x34'}", "expected a string without escapes"},
      {"{'descr': 4}", "expected a quoted string, found '4}'"},
      {"{'descr': '<f4', 'fortran_order': 0}", "at byte 44: expected True or False"},
      {"{'descr': '<f4', 'fortran_order': true}", "expected True or False"},
      {"{'shape': [3]}", "expected a tuple, found '[3]}'"},
      {"{'shape': 3}", "expected a tuple"},
      {"{'shape': (3)}", "expected ',' after the only extent"},
      {"{'shape': (-3,)}", "expected an extent: an integer from 0 to 2^63 - 1, found '-3,)}'"},
      {"{'shape': (3.0,)}", "expected ',' or ')' after an extent, found '.0,)}'"},
      {"{'shape': (1 2)}", "expected ',' or ')' after an extent"},
      {"{'shape': (,)}", "expected an extent"},
      {"{'shape': (03,)}", "expected an extent"},
      {"{'shape': (0x3,)}", "expected ',' or ')' after an extent"},
      {"{'shape': (9223372036854775808,)}", "at byte 21: expected an extent"},
      {"{'shape': (1,1,1,1,1,1,1,1,1)}", "expected at most 8 dimensions"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,)} x",
       "expected nothing but spaces after the dictionary, found 'x'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,)",
       "expected ',' or '}' after a value, found the header's end"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}",
       "is too large: a tensor has less than 2^60 elements"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (1, 0, 1, 2, 1, 2, 192213372036854775, 2)}", "is too large"},
      {"{'descr': '|b1', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
       "is too large: a tensor has less than 2^60 elements"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296)}",
       "is too large: a tensor has less than 2^60 elements"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 5)}",
       "shape (3, 5) of float64 takes 120 bytes from byte 67, but the file ends at byte 67"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(message<FormatError>([&] { read(npy_file(c.text)); }),
                AllOf(HasSubstr("'bytes.npy'"), HasSubstr(c.expected)))
        << c.text;
}

TEST_F(Npy, OtherElementTypesAreNamed) {
  const struct {
    const char* descr;
    const char* expected;
    const char* hint;
  } cases[] = {{"'<c32'", "'<c32', complex256 (at byte 20 of the file)", "complex128"},
               {"'|O'", "'|O', object", "float64"},
               {"'<u16'", "'<u16', uint128", "int64"},
               {"'<f16'", "'<f16', float128", "float64"},
               {"'<U7'", "'<U7', str", "float64"},
               {"'<M8[ns]'", "'<M8[ns]', datetime64", "float64"},
               {"''", "''", "float64"},
               {"'<'", "'<'", "float64"},
               {"'float32'", "'float32'", "float64"},
               {"'<f4\x01\xff'", "'<f4\\x01\\xff'", "float64"},
               {"[('x', '<f4'), ('y', '<i4')]", "a structured type", "float64"}};
  for (const auto& c : cases) {
    const std::string text = fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': (3,)}}", c.descr);
    EXPECT_THAT(message<DTypeError>([&] { read(npy_file(text)); }),
                AllOf(HasSubstr("'bytes.npy'"), HasSubstr(c.expected), HasSubstr("Sinter reads bool"),
                      HasSubstr(fmt::format("astype('{}')", c.hint))));
  }
}

TEST_F(Npy, WhatTheFormatLacksIsRefusedBeforeTheFileIsTouched) {
  const TensorRef t = testing::host_tensor(DType::BFloat16, Shape{3}, {0x3F80, 0x4000, 0x4040});
  EXPECT_THAT(message<DTypeError>([&] { detail::save_npy(path("b.npy"), *t); }),
              AllOf(HasSubstr("no bfloat16"), HasSubstr(".to<float>()")));
  EXPECT_FALSE(fs::exists(path("b.npy")));
}

TEST_F(Npy, WhatIsNoNpyFile) {
  EXPECT_THAT(message<FormatError>([] { read(""); }), HasSubstr("the file is empty"));
  EXPECT_THAT(message<FormatError>([] { read("PK\3\4 a zip file"); }), HasSubstr("not a .npy file: byte 0 is 0x50"));
  EXPECT_THAT(message<FormatError>([] { read("\x93NUMPX\1"); }), HasSubstr("byte 5 is 0x58"));
  EXPECT_THAT(message<FormatError>([] { read(npy_file("{}", "", 4)); }),
              HasSubstr("unknown .npy format 4.0 (at byte 6)"));
  EXPECT_THAT(message<FormatError>([] { read(std::string_view("\x93NUMPY\2\0\xFF\xFF\xFF\xFF", 12)); }),
              HasSubstr("a header of 4294967295 bytes"));
}

TEST_F(Npy, EveryTruncationIsAFormatError) {
  for (const char* name : {"i4_cube", "fortran", "format2", "scalar", "big_f8", "b1"}) {
    const std::string file = file_bytes(testing::data_path(std::string("npy/") + name + ".npy"));
    ASSERT_GT(file.size(), 64u);
    for (std::size_t length = 0; length < file.size(); ++length)
      message<FormatError>([&] { read(std::string_view(file).substr(0, length)); });
  }
}

TEST_F(Npy, EveryFlippedBitReadsOrIsRefused) {
  for (const char* name : {"i4_cube", "fortran_cube", "format3", "scalar", "big_f8", "b1", "empty_matrix"}) {
    const std::string file = file_bytes(testing::data_path(std::string("npy/") + name + ".npy"));
    int refused = 0;
    for (std::size_t bit = 0; bit < std::min<std::size_t>(file.size(), 130) * 8; ++bit) {
      std::string changed = file;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
      try {
        const TensorRef t = read(changed);
        EXPECT_EQ(elements(t).size(), static_cast<std::size_t>(t->numel) * size_of(t->dtype));
      } catch (const FormatError&) {
        ++refused;
      } catch (const DTypeError&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 300) << name;
  }
}

TEST_F(Npy, FilesThatCannotBeRead) {
  EXPECT_THAT(message<FormatError>([&] { detail::load_npy(path("none.npy"), Device()); }),
              AllOf(HasSubstr("cannot read"), HasSubstr("none.npy"), HasSubstr("No such file")));
  EXPECT_THAT(message<FormatError>([&] { detail::load_npy(folder_, Device()); }),
              HasSubstr("it is a directory, not a file"));
  ASSERT_EQ(::mkfifo(path("fifo.npy").c_str(), 0600), 0);
  EXPECT_THAT(message<FormatError>([&] { detail::load_npy(path("fifo.npy"), Device()); }), HasSubstr("not a file"));
  EXPECT_THAT(message<FormatError>([&] { detail::load_npy("/dev/zero", Device()); }), HasSubstr("not a file"));
}

TEST_F(Npy, FilesThatCannotBeWritten) {
  EXPECT_THAT(message<FormatError>([&] { detail::save_npy(path("none") / "a.npy", *small()); }),
              AllOf(HasSubstr("cannot write"), HasSubstr("none/a.npy"), HasSubstr("No such file")));
  EXPECT_THAT(message<FormatError>([&] { detail::save_npy(folder_, *small()); }), HasSubstr("it is a directory"));
  EXPECT_THAT(message<FormatError>([&] { detail::save_npy("/dev/null", *small()); }), HasSubstr("not a file"));
  EXPECT_THAT(message<FormatError>([&] { detail::save_npy(path(std::string(300, 'a')), *small()); }),
              HasSubstr("File name too long"));
  EXPECT_THAT(message<FormatError>([&] { detail::save_npy("", *small()); }), HasSubstr("cannot write"));
  EXPECT_EQ(files(), 0);
}

TEST_F(Npy, AFullDiskLeavesTheOldFile) {
  detail::save_npy(path("a.npy"), *small());
  const std::string before = file_bytes(path("a.npy"));
  const TensorRef large = testing::host_tensor(DType::Float64, Shape{100000}, {1, 2});
  for (const rlim_t limit : testing::file_limits)
    EXPECT_EQ(testing::under_file_limit(limit,
                                        [&] {
                                          const std::string text =
                                              message<FormatError>([&] { detail::save_npy(path("a.npy"), *large); });
                                          const bool says = ::testing::Value(
                                              text, AllOf(HasSubstr("cannot write"), HasSubstr("File too large")));
                                          EXPECT_THROW(save_npz(path("a.npz"), {{"a", AnyTensor(large)}}), FormatError);
                                          return says && !::testing::Test::HasFailure() ? 0 : 1;
                                        }),
              0);
  EXPECT_EQ(file_bytes(path("a.npy")), before);
  EXPECT_EQ(files(), 1);
}

TEST_F(Npy, LinksAreFollowedAndPermissionsKept) {
  write_file(path("real.npy"), "old");
  fs::permissions(path("real.npy"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real.npy", path("link.npy"));
  detail::save_npy(path("link.npy"), *small());
  EXPECT_TRUE(fs::is_symlink(path("link.npy")));
  EXPECT_EQ(elements(detail::load_npy(path("real.npy"), Device())), elements(small()));
  EXPECT_EQ(fs::status(path("real.npy")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("missing.npy", path("dangling.npy"));
  EXPECT_THAT(message<FormatError>([&] { detail::save_npy(path("dangling.npy"), *small()); }),
              HasSubstr("No such file"));
}

TEST_F(Npy, LongNamesAndOddNamesAreFiles) {
  for (const std::string& name :
       {std::string(255, 'n'), std::string("a b\tc'\".npy"), std::string("\xC3\xA4.npy"), std::string("{}.npy")}) {
    detail::save_npy(path(name), *small());
    EXPECT_EQ(elements(detail::load_npy(path(name), Device())), elements(small()));
  }
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  detail::save_npy("relative.npy", *small());
  fs::current_path(before);
  EXPECT_TRUE(fs::exists(path("relative.npy")));
}

TEST_F(Npy, ThreadsThatWriteOneFileLeaveOneWhole) {
  std::vector<std::thread> threads;
  for (std::uint64_t k = 1; k <= 4; ++k)
    threads.emplace_back([&, k] {
      const TensorRef t = testing::host_tensor(DType::Int64, Shape{static_cast<std::int64_t>(1000 * k)}, {k});
      for (int i = 0; i < 25; ++i) {
        detail::save_npy(path("shared.npy"), *t);
        const TensorRef seen = detail::load_npy(path("shared.npy"), Device());
        const std::string all = elements(seen);
        EXPECT_EQ(all, elements(testing::host_tensor(DType::Int64, seen->shape, {static_cast<std::uint64_t>(all[0])})));
        EXPECT_EQ(seen->numel, all[0] * 1000);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace sinter
