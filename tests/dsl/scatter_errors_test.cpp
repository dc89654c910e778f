// Writes to indexed positions that are rejected: invalid indices, and shapes and dtypes that do not match.
#include "devices.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

namespace sn = sinter;
using sinter_tests::devices;
using sinter_tests::message_of;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Index = sn::Tensor<std::int64_t>;

TEST(ScatterErrors, OutOfRangeIsAnErrorAndWritesNothingThere) {
  using Write = std::function<void(sn::Tensor<float>&, Index)>;
  const auto source = [](const Index& i) { return sn::Tensor<float>((i * 0 + 5).to<float>()); };
  const std::pair<const char*, Write> writes[] = {
      {"scatter_", [&](auto& x, const Index& i) { x.scatter_(0, i, source(i)); }},
      {"scatter_add_", [&](auto& x, const Index& i) { x.scatter_add_(0, i, source(i)); }},
      {"index_add_", [&](auto& x, const Index& i) { x.index_add_(0, i, source(i)); }},
      {"index_copy_", [&](auto& x, const Index& i) { x.index_copy_(0, i, source(i)); }},
      {"index_fill_", [&](auto& x, const Index& i) { x.index_fill_(0, i, 5); }},
      {"index_put_", [&](auto& x, const Index& i) { x.index_put_({i}, 5); }},
  };
  for (const sn::Device device : devices())
    for (const auto& [what, write] : writes)
      for (const std::int64_t bad : {std::int64_t{3}, std::int64_t{-4}, std::int64_t{1} << 40, -(std::int64_t{1} << 40),
                                     INT64_MAX, INT64_MIN, std::int64_t{1} << 62, -(std::int64_t{1} << 62)}) {
        sn::Tensor<float> buffer = sn::ones({9}).to(device);
        sn::Tensor<float> x = buffer.narrow(0, 3, 3);
        const Index index = sn::tensor<std::int64_t>({1, bad}).to(device);
        if (device.is_cpu()) {
          EXPECT_THAT(message_of<sn::IndexError>([&] { write(x, index); }),
                      AllOf(HasSubstr(what),
                            HasSubstr(fmt::format("index {} is out of bounds for dimension 0 with size 3", bad))));
          EXPECT_THAT(buffer.to_vector(), Each(1));
        } else {
          write(x, index);
          EXPECT_THAT(message_of<sn::IndexError>([&] { sn::synchronize(device); }),
                      AllOf(HasSubstr(what), HasSubstr("out of bounds"), HasSubstr("cuda")));
          const auto values = buffer.to_vector();
          for (std::size_t k = 0; k < values.size(); ++k) EXPECT_EQ(values[k] != 1, k == 4) << k << what;
        }
      }
}

TEST(ScatterErrors, OneBadIndexOfSeveralIsEnough) {
  for (const sn::Device device : devices())
    for (const auto& [row, column] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {5, 0}, {0, 5}, {5, -3}, {-3, 2}, {-3, -3}, {INT64_MIN, 2}, {0, INT64_MAX}, {INT64_MAX, INT64_MAX}}) {
      sn::Tensor<float> buffer = sn::Tensor<float>(sn::ones({6, 3})).to(device);
      sn::Tensor<float> x = buffer.narrow(0, 2, 2).flip(0, 1);
      const auto at = [&](std::int64_t i) { return Index(sn::tensor<std::int64_t>({i}).to(device)); };
      EXPECT_THROW(
          {
            x.index_put_({at(row), at(column)}, 5, true);
            sn::synchronize(device);
          },
          sn::IndexError)
          << row << " " << column << device;
      EXPECT_THAT(buffer.to_vector(), Each(1)) << row << " " << column << device;
    }
}

TEST(ScatterErrors, NamesTheDimensionOfABadIndex) {
  sn::Tensor<float> x = sn::zeros({2, 3});
  const Index zero = sn::zeros<std::int64_t>({1});
  EXPECT_THAT(message_of<sn::IndexError>([&] { x.index_put_({zero, zero - 4}, 1); }),
              HasSubstr("index_put_: index -4 is out of bounds for dimension 1 with size 3 of float32 (2, 3) on cpu"));
  EXPECT_THAT(message_of<sn::IndexError>([&] { x.index_put_({zero + 2, zero - 4}, 1); }),
              HasSubstr("index 2 is out of bounds for dimension 0 with size 2"));
  EXPECT_THAT(message_of<sn::IndexError>([&] { x.scatter_(1, sn::tensor<std::int64_t>({{-1}}), 1); }),
              HasSubstr("index -1 is out of bounds for dimension 1 with size 3"));
}

TEST(ScatterErrors, WhatDoesNotFitIsRefused) {
  sn::Tensor<float> x = sn::zeros({2, 3});
  const Index i = sn::zeros<std::int64_t>({2, 2}), list = sn::zeros<std::int64_t>({2});
  EXPECT_THAT(message_of<sn::ShapeError>([&] { x.scatter_(0, i, sn::zeros({2, 1})); }),
              AllOf(HasSubstr("scatter_"), HasSubstr("along dimension 1"), HasSubstr("x: float32 (2, 3) on cpu"),
                    HasSubstr("index: int64 (2, 2) on cpu"), HasSubstr("source: float32 (2, 1) on cpu")));
  EXPECT_THROW(x.scatter_(0, sn::zeros<std::int64_t>({1, 4}), 1), sn::ShapeError);
  EXPECT_THROW(x.scatter_(0, list, 1), sn::ShapeError);
  EXPECT_THROW(x.scatter_add_(0, i, sn::Tensor<float>(sn::zeros({2}))), sn::ShapeError);
  EXPECT_THROW(x.scatter_(2, i, 1), sn::IndexError);
  EXPECT_THROW(x.index_add_(0, i, x), sn::ShapeError);
  EXPECT_THROW(x.index_add_(0, list, sn::zeros({3, 3})), sn::ShapeError);
  EXPECT_THROW(x.index_copy_(1, list, sn::zeros({2, 3})), sn::ShapeError);
  EXPECT_THROW(x.index_fill_(0, list, sn::Tensor<float>(sn::zeros({1}))), sn::ShapeError);
  EXPECT_THROW(x.index_put_({list, list, list}, 1), sn::IndexError);
  EXPECT_THROW(x.index_put_({}, 1), sn::IndexError);
  EXPECT_THROW(x.index_put_({list, sn::zeros<std::int64_t>({3})}, 1), sn::IndexError);
  EXPECT_THROW(x.index_put_({list}, sn::zeros({3})[0].expand({3, 3})), sn::ShapeError);
  EXPECT_THROW(x.index_put_({list}, sn::zeros({1, 2, 3})), sn::ShapeError);
  sn::Tensor<float> deep = sn::zeros({1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_THAT(message_of<sn::ShapeError>([&] { deep.index_put_({i}, 1); }),
              AllOf(HasSubstr("index_put_: the indices broadcast to 2 dimensions, in addition to 7 of x"),
                    HasSubstr("x: float32 (1, 1, 1, 1, 1, 1, 1, 1) on cpu")));
  sn::Tensor<float> expanded = sn::Tensor<float>(sn::zeros({1})).expand({2});
  EXPECT_THAT(message_of<sn::Error>([&] { expanded.scatter_(0, list, 1); }), HasSubstr("single memory"));
  sn::AnyTensor any = x, bools = sn::ones<bool>({2});
  EXPECT_THROW(any.index_fill_(0, bools, 1), sn::DTypeError);
  EXPECT_THROW(any.index_fill_(0, sn::AnyTensor(sn::ones({1})), 1), sn::DTypeError);
  sn::Tensor<std::int64_t> whole = sn::zeros<std::int64_t>({2});
  EXPECT_THAT(message_of<sn::DTypeError>([&] { whole.scatter_(0, list, 2.5); }),
              AllOf(HasSubstr("scatter_: the number 2.5 does not fit int64"), HasSubstr("x: int64 (2,) on cpu")));
  sn::Tensor<std::uint8_t> bytes = sn::zeros<std::uint8_t>({2});
  EXPECT_THAT(message_of<sn::Error>([&] { bytes.index_put_({list}, 300); }),
              AllOf(HasSubstr("index_put_: the number 300 does not fit uint8"), HasSubstr("x: uint8 (2,) on cpu")));
  EXPECT_THROW(bytes.index_fill_(0, list, -1), sn::Error);
  EXPECT_THAT(bytes.index_fill_(0, list, 255).to_vector(), ElementsAre(255, 0));
  EXPECT_THROW(sn::AnyTensor(whole).index_copy_(0, list, sn::AnyTensor(sn::ones({2}))), sn::DTypeError);
  EXPECT_THAT(x.to_vector(), Each(0));
  if (devices().size() < 2) return;
  const sn::Tensor<std::int64_t> elsewhere = list.to(sn::Device(0));
  sn::Tensor<float> here = sn::zeros({2});
  EXPECT_THAT(message_of<sn::DeviceError>([&] { here.scatter_(0, elsewhere, 1); }),
              AllOf(HasSubstr("x.scatter_(...)"), HasSubstr("int64 (2,) on cuda:0")));
  EXPECT_THROW(here.index_put_({elsewhere}, 1), sn::DeviceError);
}

}  // namespace
