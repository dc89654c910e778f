// Tensors: handles, conversions, moving, writing in place.
#include "devices.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <sstream>

namespace sn = sinter;
using sinter_tests::message_of;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using F = sn::Tensor<float, sn::Cpu>;

class OnEveryDevice : public testing::TestWithParam<sn::Device> {};
INSTANTIATE_TEST_SUITE_P(Tensor, OnEveryDevice, testing::ValuesIn(sinter_tests::devices()), [](const auto& p) {
  return p.param.is_cpu() ? std::string("cpu") : "gpu" + std::to_string(p.param.index());
});

TEST(Tensor, ConversionsThatSayLessAreImplicit) {
  static_assert(std::is_convertible_v<sn::Tensor<float, sn::Cuda<0>>, sn::Tensor<float, sn::Cuda<>>>);
  static_assert(std::is_convertible_v<sn::Tensor<float, sn::Cuda<>>, sn::Tensor<float>>);
  static_assert(std::is_convertible_v<F, sn::AnyTensor>);
  static_assert(!std::is_convertible_v<sn::Tensor<float>, F>);
  static_assert(!std::is_convertible_v<sn::AnyTensor, sn::Tensor<float>>);
  static_assert(sizeof(F) == sizeof(void*));
}

TEST(Tensor, ConversionsThatSayMoreAreChecked) {
  const sn::Tensor<float> cpu = sn::ones({2}), gpu = sn::ones({2}, "cuda:1");
  EXPECT_EQ(F(cpu).device(), sn::Device("cpu"));
  EXPECT_NO_THROW((sn::Tensor<float, sn::Cuda<>>(gpu)));
  EXPECT_NO_THROW((sn::Tensor<float, sn::Cuda<1>>(gpu)));
  EXPECT_THAT(message_of<sn::DeviceError>([&] { F f(gpu); }),
              testing::AllOf(HasSubstr("cpu"), HasSubstr("float32 (2,) on cuda:1")));
  EXPECT_THROW((sn::Tensor<float, sn::Cuda<0>>(gpu)), sn::DeviceError);
  const sn::AnyTensor any = gpu;
  EXPECT_NO_THROW(sn::Tensor<float>{any});
  EXPECT_THROW(sn::Tensor<double>{any}, sn::DTypeError);
}

TEST_P(OnEveryDevice, DescribesItself) {
  const auto x = sn::ones({2, 3}, GetParam());
  EXPECT_EQ(x.shape(), sn::Shape(2, 3));
  EXPECT_EQ(x.strides(), sn::Shape(3, 1));
  EXPECT_EQ(x.dim(), 2);
  EXPECT_EQ(x.numel(), 6);
  EXPECT_EQ(x.size(-1), 3);
  EXPECT_EQ(x.dtype(), sn::DType::Float32);
  EXPECT_EQ(x.device(), GetParam());
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_THAT(message_of<sn::IndexError>([&] { x.size(2); }), HasSubstr("[-2, 1], but got 2"));
}

TEST_P(OnEveryDevice, MovingToWhereItIsShares) {
  const auto x = sn::tensor({1.f, 2.f}, GetParam());
  EXPECT_TRUE(x.to(GetParam()).same_storage(x));
  EXPECT_TRUE(x.to<float>().same_storage(x));
  EXPECT_FALSE(x.to<double>().same_storage(x));
  EXPECT_FALSE(x.clone().same_storage(x));
  auto y = x;
  EXPECT_TRUE(y.copy_(y).same_storage(x));
  EXPECT_THAT(x.to<double>(sn::cpu).to_vector(), ElementsAre(1.0, 2.0));
  EXPECT_THAT(x.cpu().to_vector(), ElementsAre(1, 2));
}

TEST_P(OnEveryDevice, CudaMeansTheCurrentGpu) {
  const auto x = sn::tensor({1.f, 2.f}, GetParam());
  EXPECT_EQ(x.cuda().device(), sn::Device(sn::cuda<>));
  EXPECT_EQ(x.cuda().same_storage(x), x.device() == sn::Device(sn::cuda<>));
  EXPECT_EQ(x.cuda(1).device(), sn::Device("cuda:1"));
  EXPECT_THAT(x.cuda().to_vector(), ElementsAre(1, 2));
}

TEST_P(OnEveryDevice, MovesEverywhere) {
  const auto x = sn::arange(7, GetParam());
  for (const sn::Device& d : sinter_tests::devices()) {
    EXPECT_EQ(x.to(d).device(), d);
    EXPECT_TRUE(sn::equal(x.to(d).cpu(), x.cpu()));
    const auto strided = x.slice(0, 6, sn::range::none, -2).to(d);
    EXPECT_THAT(strided.to_vector(), ElementsAre(6, 4, 2, 0));
  }
}

TEST_P(OnEveryDevice, NamedTensorsRebindAndTemporariesWrite) {
  auto x = sn::zeros({2, 3}, GetParam());
  const auto alias = x;
  x[0] = 5.f;
  x(sn::range(), 2) = sn::tensor({7.f, 8.f}, GetParam());
  EXPECT_THAT(alias.to_vector(), ElementsAre(5, 5, 7, 0, 0, 8));
  x[1] = x[0] + 1;
  EXPECT_THAT(alias.to_vector(), ElementsAre(5, 5, 7, 6, 6, 8));
  x = x + 1;
  EXPECT_FALSE(x.same_storage(alias));
  EXPECT_THAT(alias.to_vector(), ElementsAre(5, 5, 7, 6, 6, 8));
}

TEST_P(OnEveryDevice, WritesInPlace) {
  auto x = sn::tensor({1.f, 2.f, 3.f}, GetParam());
  const auto alias = x;
  x += 1;
  x *= x;
  x -= sn::tensor({1}, GetParam());
  x /= 2;
  EXPECT_THAT(alias.to_vector(), ElementsAre(1.5f, 4.f, 7.5f));
  x.assign(x.slice(0, sn::range::none, sn::range::none, -1));
  EXPECT_THAT(alias.to_vector(), ElementsAre(7.5f, 4.f, 1.5f));
  x.copy_(sn::tensor({1, 2, 3}));
  EXPECT_THAT(alias.to_vector(), ElementsAre(1, 2, 3));
  auto i = sn::tensor({7, 8, 9}, GetParam());
  i %= 4;
  i |= 4;
  i ^= 1;
  i &= 6;
  EXPECT_THAT(i.to_vector(), ElementsAre(6, 4, 4));
}

TEST_P(OnEveryDevice, WritesNumbersThatTheDtypeHolds) {
  using namespace sn::literals;
  auto i = sn::tensor<std::int32_t>({1, 2}, GetParam());
  i[0] = 3_c;
  EXPECT_THAT(i.to_vector(), ElementsAre(3, 2));
  i.assign(4_c);
  EXPECT_THAT(i.to_vector(), ElementsAre(4, 4));
  EXPECT_THAT(message_of<sn::Error>([&] { i[0] = 3'000'000'000; }),
              testing::AllOf(HasSubstr("3000000000"), HasSubstr("int32")));
  EXPECT_THROW(i.assign(18446744073709551615ull), sn::Error);
  EXPECT_THROW(i[0] = 1.5, sn::DTypeError);
  EXPECT_THAT(i.to_vector(), ElementsAre(4, 4));
  auto any = sn::AnyTensor(i);
  EXPECT_THROW(any.assign(-3'000'000'000), sn::Error);
  any.assign(5);
  EXPECT_THAT(i.to_vector(), ElementsAre(5, 5));
}

TEST_P(OnEveryDevice, OverlappingWritesReadEverythingFirst) {
  for (std::int64_t n : {4, 33, 1025, 70'000}) {
    auto x = sn::arange(n, GetParam());
    x(sn::range(1, n)) = x(sn::range(0, n - 1));
    const std::vector<std::int64_t> got = x.to_vector();
    ASSERT_EQ(got[0], 0);
    for (std::int64_t i = 1; i < n; ++i) ASSERT_EQ(got[static_cast<std::size_t>(i)], i - 1) << n;
    auto m = sn::arange(n * n > 1'000'000 ? 9 : n * n, GetParam());
    const std::int64_t side = n * n > 1'000'000 ? 3 : n;
    m = m.reshape({side, side});
    m.assign(m.t());
    EXPECT_EQ(m[1][0].item(), 1);
    EXPECT_EQ(m[0][1].item(), side);
  }
}

TEST_P(OnEveryDevice, InPlaceKeepsTheCategory) {
  auto mask = sn::tensor({true, false}, GetParam());
  EXPECT_THAT(message_of<sn::DTypeError>([&] { mask += 1; }),
              testing::AllOf(HasSubstr("int64"), HasSubstr("bool"), HasSubstr("can't be cast")));
  auto i = sn::tensor({1, 2}, GetParam());
  EXPECT_THROW(i *= 0.5, sn::DTypeError);
  EXPECT_THAT(i.to_vector(), ElementsAre(1, 2));
  auto f = sn::tensor({1.f, 2.f}, GetParam());
  f += i;
  EXPECT_THAT(f.to_vector(), ElementsAre(2, 4));
}

TEST_P(OnEveryDevice, OutputsGrowByBroadcastingAndNeverShrink) {
  auto x = sn::zeros({2, 3}, GetParam());
  x.assign(sn::tensor({1.f, 2.f, 3.f}, GetParam()));
  EXPECT_THAT(x.to_vector(), ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_THROW(x[0].assign(x), sn::ShapeError);
  EXPECT_THROW(x.expand({2, 2, 3}) += 1, sn::Error);
}

TEST_P(OnEveryDevice, NothingIsWrittenWhereElementsShareMemory) {
  sn::Tensor<float> x = sn::zeros({6}, GetParam());
  auto windows = x.unfold(0, 3, 1);  // (4, 3), of 6 elements
  const auto rows = sn::tensor<std::int64_t>({0, 1}, GetParam());
  const auto mask = sn::tensor({true, false, true}, GetParam());
  const auto one = sn::ones({4, 3}, GetParam());
  const std::function<void()> writes[] = {
      [&] { windows += 1; },
      [&] { windows += one; },
      [&] { windows.assign(one); },
      [&] { windows.assign(sn::rand({4, 3}, GetParam())); },
      [&] { sn::evaluate(sn::into(windows, 3)); },
      [&] { x(sn::range(0, 3)).expand({2, 3}) += 3; },
      [&] { windows.copy_(one); },
      [&] { windows.masked_fill_(mask, 1); },
      [&] { windows.scatter_(0, sn::zeros<std::int64_t>({1, 3}, GetParam()), 1); },
      [&] { windows.scatter_add_(0, sn::zeros<std::int64_t>({1, 3}, GetParam()), sn::ones({1, 3}, GetParam())); },
      [&] { windows.index_put_({rows}, 1); },
      [&] { windows.index_add_(0, rows, sn::ones({2, 3}, GetParam())); },
      [&] { windows.index_copy_(0, rows, sn::ones({2, 3}, GetParam())); },
      [&] { windows.index_fill_(0, rows, 1); },
      [&] { sn::evaluate(sn::into(windows, one)); },
      [&] { sn::evaluate(sn::into(windows, one), sn::into(windows.clone(), one)); },
      [&] { windows.assign(sn::softmax(one, -1)); },
      [&] { windows.assign(sn::matmul(one, sn::ones({3, 3}, GetParam()))); },
  };
  for (const auto& write : writes)
    EXPECT_THAT(message_of<sn::Error>(write), HasSubstr("single memory location")) << &write - writes;
  EXPECT_THAT(x.to_vector(), Each(0));
  x.unfold(0, 3, 3) += 1;  // these do not
  x.unfold(0, 1, 2) += 1;
  EXPECT_THAT(x.to_vector(), ElementsAre(2, 1, 2, 1, 2, 1));
}

TEST_P(OnEveryDevice, ReadsItems) {
  EXPECT_EQ(sn::tensor(2.5f, GetParam()).item(), 2.5f);
  EXPECT_EQ(sn::tensor({{true}}, GetParam()).item(), true);
  EXPECT_THAT(message_of<sn::Error>([&] { (void)sn::ones({3}, GetParam()).item(); }), HasSubstr("3 elements"));
  EXPECT_THAT(sn::tensor({true, false, true}, GetParam()).to_vector(), ElementsAre(true, false, true));
  EXPECT_TRUE(sn::zeros({0, 3}, GetParam()).to_vector().empty());
}

TEST(Tensor, MovingToAMissingGpuSaysWhatThereIs) {
  const F x = sn::ones({2});
  const std::string text = message_of<sn::DeviceError>([&] { (void)x.cuda(7); });
  EXPECT_THAT(text,
              testing::AllOf(HasSubstr("CUDA error: invalid device ordinal"), HasSubstr("cuda:7"), HasSubstr("2")));
  EXPECT_THROW(sn::ones({2}, "cuda:9"), sn::DeviceError);
  EXPECT_THROW(sn::ones({2}, "gpu"), sn::DeviceError);
}

TEST_P(OnEveryDevice, NumbersPastInt32BesideInt32AreRefused) {
  auto ids = sn::tensor<int>({5, -5, 7}).to(GetParam());
  const long long large = 3'000'000'000, wraps_to_0 = 1ll << 32;
  const auto refused = [](auto&& f) { EXPECT_THAT(message_of<sn::Error>(f), HasSubstr("does not fit int32")); };
  refused([&] { sn::Tensor r = ids < large; });
  refused([&] { sn::Tensor r = ids + large; });
  refused([&] { sn::Tensor r = sn::where(ids > 0, ids, large); });
  refused([&] { sn::Tensor r = ids == 4294967291u; });
  refused([&] { ids %= wraps_to_0; });
  refused([&] { sn::Tensor r = sn::Lazy(ids) < large; });
  refused([&] { sn::Tensor r = ids + std::integral_constant<long long, 3'000'000'000>{}; });
  EXPECT_THAT(ids.to_vector(), ElementsAre(5, -5, 7));
  EXPECT_THAT(sn::Tensor(ids.template to<std::int64_t>() < large).to_vector(), ElementsAre(true, true, true));
  EXPECT_EQ(sn::Tensor(ids + 2147483647 - 2147483647).to_vector(), ids.to_vector());
}

TEST(Tensor, WhatItIsPrints) {
  std::ostringstream out;
  const auto x = sn::zeros({2, 3});
  out << x.shape() << " " << x.device() << " " << x.dtype() << " " << sn::cpu;
  EXPECT_EQ(out.str(), "(2, 3) cpu float32 cpu");
}

TEST_P(OnEveryDevice, PrintsItsDevice) {
  const std::string suffix = GetParam().is_cpu() ? "" : ", device='" + to_string(GetParam()) + "'";
  EXPECT_EQ(sinter_tests::printed(sn::tensor({1.f, 2.f, 3.f}, GetParam())), "tensor([1., 2., 3.]" + suffix + ")");
  const auto x = sn::tensor({1, 2, 3}, GetParam());
  EXPECT_EQ(sinter_tests::printed(x.pow(2)), "tensor([1, 4, 9]" + suffix + ")");
}

}  // namespace
