// Tensors on the caller's memory, and spans and accessors of tensors.
#include <sinter/dsl/from_blob.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "devices.hpp"

namespace sinter {
namespace {

using sinter_tests::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(FromBlob, SharesTheArray) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  const auto x = from_blob(data, {2, 3});
  static_assert(std::is_same_v<decltype(x), const Tensor<float, Cpu>>);
  EXPECT_EQ(x.data(), data);
  x[1] = 7;
  EXPECT_EQ(data[4], 7);
  data[0] = -1;
  EXPECT_EQ(x(0, 0).item(), -1);
  EXPECT_EQ(Tensor(x + x)(1, 2).item(), 14);
  EXPECT_EQ(from_blob(data, {}).item(), -1);
}

TEST(FromBlob, StridesOfAnySign) {
  int data[12];
  std::iota(data, data + 12, 0);
  EXPECT_EQ(from_blob(data + 9, {2, 3}, {1, -4}).to_vector(), (std::vector<int>{9, 5, 1, 10, 6, 2}));
  EXPECT_EQ(from_blob(data, {2, 2}, {0, 1}).to_vector(), (std::vector<int>{0, 1, 0, 1}));
  EXPECT_THROW(from_blob(data, {2, 2}, {0, 1}) = 3, Error);
}

TEST(FromBlob, OwnersGoWithTheLastTensor) {
  auto values = std::make_shared<std::vector<double>>(4, 2.);
  auto x = from_blob(values->data(), {4}, values);
  const std::weak_ptr<std::vector<double>> there = values;
  values.reset();
  auto half = x(range(2, 4));
  x = Tensor<double, Cpu>();
  EXPECT_EQ(half.sum().item(), 4);
  half = Tensor<double, Cpu>();
  EXPECT_TRUE(there.expired());

  int deleted = 0;
  const auto deleter = [&](double* p) { delete[] p, ++deleted; };
  from_blob(new double[3]{1, 2, 3}, {3}, deleter);
  EXPECT_EQ(deleted, 1);
  EXPECT_THROW(from_blob(new double[3], {-3}, deleter), ShapeError);
  EXPECT_EQ(deleted, 2);
  from_blob(new double[3], {0}, deleter);
  EXPECT_EQ(deleted, 3);
  from_blob(new double[3], {2, 2}, {1, 1}, deleter);
  EXPECT_EQ(deleted, 4);
}

TEST(FromBlob, Refuses) {
  alignas(8) std::byte bytes[32] = {};
  auto* odd = reinterpret_cast<double*>(bytes + 4);
  EXPECT_THAT(message_of<Error>([&] { from_blob(odd, {2}); }), AllOf(HasSubstr("multiples of 8"), HasSubstr("Copy")));
  auto* between = reinterpret_cast<std::complex<float>*>(bytes + 4);  // GPUs read both parts at once
  EXPECT_THAT(message_of<Error>([&] { from_blob(between, {2}); }),
              HasSubstr("aligned for complex64, whose elements start at multiples of 8 bytes"));
  EXPECT_THAT(message_of<Error>([] { from_blob(static_cast<float*>(nullptr), {2}); }),
              AllOf(HasSubstr("float32"), HasSubstr("null")));
  EXPECT_EQ(from_blob(static_cast<float*>(nullptr), {0, 2}).numel(), 0);
  float x = 0;
  EXPECT_THAT(message_of<ShapeError>([&] { from_blob(&x, {2, 3}, {1}); }), HasSubstr("1 strides"));
  EXPECT_THAT(message_of<ShapeError>([&] { from_blob(&x, {3}, {std::int64_t{1} << 62}); }),
              HasSubstr("exceeds the address space"));
}

TEST(FromSpan, StaysInside) {
  std::vector<float> values(10);
  std::iota(values.begin(), values.end(), 0.f);
  const std::span<float> span(values);
  EXPECT_EQ(from_span(span).data(), values.data());
  EXPECT_EQ(from_span(span).shape(), Shape(10));
  EXPECT_EQ(from_span(span, {2, 5})(1, 0).item(), 5);
  EXPECT_EQ(from_span(span, {2, 4}).numel(), 8);
  EXPECT_EQ(from_span(span, {4}, Shape(3)).to_vector(), (std::vector<float>{0, 3, 6, 9}));
  EXPECT_THAT(message_of<ShapeError>([&] { from_span(span, {11}); }), AllOf(HasSubstr("0 to 10"), HasSubstr("has 10")));
  EXPECT_THROW(from_span(span, {5}, Shape(3)), ShapeError);
  EXPECT_THAT(message_of<ShapeError>([&] { from_span(span, {2}, Shape(-1)); }), HasSubstr("-1 to 0"));
  EXPECT_THROW(from_span(span.first(0), {1}), Error);
  EXPECT_EQ(from_span(span.first(0)).numel(), 0);
}

TEST(Span, OfContiguousTensors) {
  const Tensor x = arange<float>(6).reshape({2, 3}).clone();
  const std::span<float> s = x.span();
  EXPECT_EQ(s.size(), 6u);
  EXPECT_EQ(s.data(), x.data());
  std::ranges::fill(s, 2.f);
  EXPECT_EQ(x.sum().item(), 12);
  const auto t = x.t();
  EXPECT_THAT(message_of<Error>([&] { t.span(); }), AllOf(HasSubstr("contiguous()"), HasSubstr("accessor<2>")));
  const Tensor<float> gpu = x.cuda(0);
  EXPECT_THAT(message_of<DeviceError>([&] { gpu.span(); }), AllOf(HasSubstr("cuda:0"), HasSubstr(".cpu()")));
  EXPECT_THAT(message_of<DeviceError>([&] { gpu.accessor<2>(); }), HasSubstr(".cpu()"));
  const auto none = zeros({0});
  EXPECT_TRUE(none.span().empty());
}

TEST(Span, OfPinnedMemoryWaits) {
  const auto x = ones({1000}).pin_memory();
  const auto on_gpu = x.cuda(0);
  x.span()[0] = 5;  // the copy has been made
  EXPECT_EQ(on_gpu[0].item(), 1);
}

TEST(AccessorTest, ReachesTheElementsOfViews) {
  const auto x = arange<int>(24).reshape({2, 3, 4}).clone();
  const auto part = x(range(), range(range::none, range::none, -1), range(1, 4, 2));
  const auto a = part.accessor<3>();
  EXPECT_EQ(a.extents(), (std::array<std::int64_t, 3>{2, 3, 2}));
  EXPECT_EQ(a.stride(1), -4);
  const std::vector<int> values = part.to_vector();
  std::size_t n = 0;
  for (int i = 0; i < a.size(0); ++i)
    for (int j = 0; j < a.size(1); ++j)
      for (int k = 0; k < a.size(2); ++k, ++n) {
        EXPECT_EQ(a(i, j, k), values[n]);
        EXPECT_EQ(&a[i][j][k], &a(i, j, k));
      }
  a(1, 2, 0) = -5;
  EXPECT_EQ(part(1, 2, 0).item(), -5);
  const Accessor<const int, 3> reads = a;
  EXPECT_EQ(reads(1, 2, 0), -5);
  EXPECT_THAT(message_of<ShapeError>([&] { part.accessor<2>(); }),
              AllOf(HasSubstr("accessor<2>"), HasSubstr("3 axes")));
}

}  // namespace
}  // namespace sinter
