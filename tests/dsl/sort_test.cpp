// Order along an axis, in rows that one block of a GPU sorts.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "order_reference.hpp"

namespace sn = sinter;
using namespace sinter_tests;
using sn::AnyTensor;
using sn::DType;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

TEST(Sort, EveryDtype) {
  std::mt19937 random(1);
  for (const DType dtype : every_real_dtype) expect_order_of(dtype, {70, 37}, 1, 11, random);
}

TEST(Sort, EveryLengthOfABlock) {
  std::mt19937 random(2);
  for (const std::int64_t n : {1,  2,   3,   4,   5,   7,   8,   9,   15,  16,  17,   31,   32,   33,   63,  64,
                               65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2047, 2048})
    expect_order_of(DType::Float32, {3, n}, -1, std::min<std::int64_t>(n, 1 + n / 3), random);
}

TEST(Sort, ManyRows) {
  std::mt19937 random(4);
  expect_order_of(DType::Int32, {70'001, 3}, 1, 2, random);
  expect_order_of(DType::Float32, {3, 70'001}, 0, 1, random);
}

TEST(Sort, AnyShapeAxisAndLayout) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 25; ++round) {
    sn::Shape shape;
    for (int ndim = below(5); ndim > 0; --ndim) shape.push_back(below(9) == 0 ? 0 : 1 + below(7));
    const int ndim = std::max(shape.ndim(), 1), axis = below(2 * ndim) - ndim;
    const DType dtype = every_real_dtype[below(10)];
    const AnyTensor here = tensor_of(dtype, shape, random_numbers(dtype, shape.numel(), random));
    const std::int64_t length = shape.ndim() > 0 ? shape[axis] : 1, k = below(static_cast<int>(length) + 1);
    for (const sn::Device device : devices()) {
      AnyTensor x = here.to(device);
      if (shape.ndim() > 1 && below(2) == 0) x = AnyTensor(x.transpose(0, -1).clone()).transpose(0, -1);
      if (shape.ndim() > 0 && below(2) == 0) x = AnyTensor(x.flip(0).clone()).flip(0);
      expect_order(x, numbers_of(here), axis, shape.ndim() > 0 ? k : 1);
    }
  }
}

TEST(Sort, OfExpressionsAndTypes) {
  for (const sn::Device device : devices()) {
    const sn::Tensor<float, sn::AnyDevice> x = sn::tensor<float>({{3.f, 1.f, 2.f}, {-1.f, NAN, -5.f}}).to(device);
    const auto [values, indices] = (x * 2).topk(2);
    static_assert(std::is_same_v<decltype(values), const sn::Lazy<float, sn::AnyDevice>>);
    static_assert(std::is_same_v<decltype(indices), const sn::Tensor<std::int64_t, sn::AnyDevice>>);
    EXPECT_THAT(indices.to_vector(), ElementsAre(0, 2, 1, 0));
    EXPECT_THAT(sn::sort(x.abs(), 0).indices.to_vector(), ElementsAre(1, 0, 0, 0, 1, 1));
    EXPECT_THAT(sn::argsort(-x).to_vector(), ElementsAre(0, 2, 1, 0, 2, 1));
    EXPECT_THAT(sn::kthvalue(x, 2, 0).values.shape(), sn::Shape(3));
    EXPECT_THAT(sn::median(x, 1, true).values.shape(), sn::Shape(2, 1));
    EXPECT_EQ(sn::nanmedian(x).item(), 1);
    EXPECT_TRUE(std::isnan(sn::median(x).item()));
    EXPECT_EQ(sn::median(sn::cast<std::int8_t>(x(0))).item(), 2);
  }
  const sn::Lazy<float> lazy = sn::tensor<float>({2, 1});
  EXPECT_THAT(lazy.argsort().to_vector(), ElementsAre(1, 0));
  EXPECT_THAT(sn::sort(sn::tensor<double>({2, 1})).values.to_vector(), ElementsAre(1, 2));
}

TEST(Sort, OfNothing) {
  for (const sn::Device device : devices()) {
    const AnyTensor x = tensor_of(DType::Float32, {2, 0}, {}).to(device);
    EXPECT_EQ(x.sort().values.shape(), sn::Shape(2, 0));
    EXPECT_EQ(x.topk(0).indices.shape(), sn::Shape(2, 0));
    EXPECT_EQ(x.median(0).values.shape(), sn::Shape(0));
    EXPECT_TRUE(std::isnan(x.median().as<float>().item()));
    EXPECT_TRUE(std::isnan(x.to<sn::half>().nanmedian().item()));
    EXPECT_EQ(x.median().device(), device);
    const AnyTensor ints = x.to<std::int32_t>();
    EXPECT_THAT(message_of<sn::Error>([&] { (void)ints.nanmedian(); }), testing::StartsWith("nanmedian: int32 (2, 0)"));
  }
}

TEST(Sort, ErrorsSayWhatIsWrong) {
  for (const sn::Device device : devices()) {
    const AnyTensor x = tensor_of(DType::Int32, {2, 3}, {1, 2, 3, 4, 5, 6}).to(device);
    const std::string at = " on " + to_string(device);
    EXPECT_THAT(
        message_of<sn::IndexError>([&] { (void)x.sort(2); }),
        HasSubstr("sort: dimension out of range (expected to be in range of [-2, 1], but got 2) for int32 (2, 3)" +
                  at));
    EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x.argsort(-3); }), HasSubstr("argsort: dimension out of range"));
    EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x.median(5); }), HasSubstr("median: dimension out of range"));
    EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x.topk(4); }),
                HasSubstr("topk: k is 4, but dimension 1 of int32 (2, 3)" + at + " has 3 elements"));
    EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x.topk(-1, 0); }), HasSubstr("topk: k is -1"));
    EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x.kthvalue(0); }),
                HasSubstr("kthvalue: k is 0, but must be from 1 to 3, the elements along dimension 1 of int32 (2, 3)"));
    EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x.kthvalue(4, 1); }), HasSubstr("k is 4"));
    const AnyTensor none = x(sn::range(0, 0));
    EXPECT_THAT(message_of<sn::IndexError>([&] { (void)none.median(0); }),
                HasSubstr("median: expected dimension 0 to have elements, for int32 (0, 3)"));
    EXPECT_THAT(message_of<sn::IndexError>([&] { (void)none.kthvalue(1, 0); }), HasSubstr("to have elements"));
    EXPECT_THAT(message_of<sn::Error>([&] { (void)none.median(); }),
                HasSubstr("has no elements, and its dtype has no NaN"));
    const AnyTensor z(x.to<std::complex<float>>());
    for (const std::string& message :
         {message_of<sn::DTypeError>([&] { (void)z.sort(); }), message_of<sn::DTypeError>([&] { (void)z.topk(1); }),
          message_of<sn::DTypeError>([&] { (void)z.median(); }), message_of<sn::DTypeError>([&] { (void)z.argsort(); }),
          message_of<sn::DTypeError>([&] { (void)z.kthvalue(1); })})
      EXPECT_THAT(message, HasSubstr("complex numbers have no order"));
  }
}

}  // namespace
