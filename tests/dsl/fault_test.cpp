// Data-dependent errors: integers divided by zero.
#include "devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using Ints = sn::Tensor<std::int64_t>;

std::vector<sn::Device> gpus() {
  std::vector<sn::Device> all = devices();
  all.erase(all.begin());
  return all;
}

/// The message of evaluating and waiting, on any device.
template <class F>
std::string message(F&& f) {
  return message_of<sn::Error>([&] {
    const sn::Tensor result = f();
    (void)result.cpu();
  });
}

TEST(Fault, OnTheCpuAtOnce) {
  const Ints a = sn::tensor({7, -7, 5}), b = sn::tensor({2, 0, 3});
  EXPECT_THAT(
      message_of<sn::Error>([&] { Ints r = sn::floor_divide(a, b); }),
      AllOf(HasSubstr("ZeroDivisionError: an integer was divided by zero (floor_divide of int64 in kernel sinter_"),
            HasSubstr("where(b == 0, 1, b)")));
  EXPECT_EQ(sn::Tensor<std::int64_t>(sn::floor_divide(b, a)).to_vector(), (std::vector<std::int64_t>{0, 0, 0}));
}

TEST(Fault, OnAGpuWhenItIsWaitedFor) {
  for (const sn::Device device : gpus()) {
    const Ints a = sn::tensor({7, -7, 5}).to(device), b = sn::tensor({2, 0, 3}).to(device);
    const Ints r = a % b;  // reports nothing yet
    EXPECT_THAT(message_of<sn::Error>([&] { (void)r.cpu(); }),
                AllOf(HasSubstr("remainder of int64"), HasSubstr("found on " + sn::to_string(device))));
    EXPECT_EQ(r.cpu().to_vector(), (std::vector<std::int64_t>{1, 0, 2}));  // reported once
    const Ints again = a % b;
    EXPECT_THAT(message_of<sn::Error>([] { sn::synchronize(); }), HasSubstr("ZeroDivisionError"));
    sn::synchronize();
    const Ints third = a % b;
    EXPECT_THAT(message_of<sn::Error>([&] { (void)third[0].item(); }), HasSubstr("ZeroDivisionError"));
    const Ints fourth = a % b;
    EXPECT_THAT(message_of<sn::Error>([&] { printed(fourth); }), HasSubstr("ZeroDivisionError"));
  }
}

TEST(Fault, EachDeviceHasItsOwn) {
  if (gpus().size() < 2) GTEST_SKIP() << "needs two GPUs";
  const Ints zero = sn::tensor({0});
  const Ints r = sn::tensor({1}).to(gpus()[1]) % zero.to(gpus()[1]);
  const Ints fine = sn::tensor({4}).to(gpus()[0]) % sn::tensor({3}).to(gpus()[0]);
  EXPECT_EQ(fine.cpu().item(), 1);
  EXPECT_THAT(message_of<sn::Error>([&] { (void)r.cpu(); }), HasSubstr("cuda:1"));
}

TEST(Fault, WaitingForAllTellsOfAll) {
  if (gpus().size() < 2) GTEST_SKIP() << "needs two GPUs";
  std::vector<Ints> results;
  for (const sn::Device device : gpus()) results.push_back(sn::tensor({7}).to(device) % sn::tensor({0}).to(device));
  const std::string said = message_of<sn::Error>([] { sn::synchronize(); });
  for (const sn::Device device : gpus()) EXPECT_THAT(said, HasSubstr("found on " + sn::to_string(device)));
  sn::synchronize();
}

TEST(Fault, EveryFormOfDivisor) {
  for (const sn::Device device : devices()) {
    const Ints a = sn::arange(12, device).reshape({3, 4});
    const Ints row = sn::tensor({1, 2, 0, 4}).to(device), column = sn::tensor({1, 0, 3}).to(device).reshape({3, 1});
    const std::string expected = "divided by zero";
    EXPECT_THAT(message([&] { return a % row; }), HasSubstr(expected));
    EXPECT_THAT(message([&] { return a % column; }), HasSubstr(expected));
    EXPECT_THAT(message([&] { return sn::fmod(a, a); }), HasSubstr("fmod of int64"));
    EXPECT_THAT(message([&] { return a.transpose(0, 1) % row.reshape({4, 1}); }), HasSubstr(expected));
    EXPECT_THAT(message([&] { return a % 0; }), HasSubstr(expected));
    EXPECT_THAT(message([&] { return sn::floor_divide(12, a); }), HasSubstr(expected));
    EXPECT_THAT(message([&] { return sn::eager(a % row); }), HasSubstr(expected));
    EXPECT_THAT(message([&] { return sn::Tensor<std::int64_t>(sn::Lazy<std::int64_t>(a) % row); }),
                HasSubstr(expected));
    EXPECT_THAT(message([&] { return a.to<std::int32_t>() % row.to<std::int32_t>(); }), HasSubstr("int32"));
    EXPECT_THAT(message([&] { return (a % row) * 2 + sn::floor_divide(a, row); }),
                HasSubstr("remainder of int64, floor_divide of int64"));
  }
}

TEST(Fault, OneZeroAmongMany) {
  for (const sn::Device device : devices()) {
    Ints divisor = sn::ones<std::int64_t>({1 << 20}, device);
    EXPECT_THAT(message([&] { return divisor % divisor; }), IsEmpty());
    divisor[1 << 19] = 0;
    EXPECT_THAT(message([&] { return divisor % divisor; }), HasSubstr("divided by zero")) << sn::to_string(device);
  }
}

TEST(Fault, InPlace) {
  for (const sn::Device device : devices()) {
    Ints a = sn::tensor({8, 9}).to(device);
    const Ints b = sn::tensor({0, 3}).to(device);
    EXPECT_THAT(message([&]() -> Ints {
                  a %= b;
                  return a;
                }),
                HasSubstr("divided by zero"));
    Ints c = b.clone();
    EXPECT_THAT(message([&]() -> Ints {
                  c.assign(sn::floor_divide(a + 1, c));  // the divisor is overwritten
                  return c;
                }),
                HasSubstr("divided by zero"));
  }
}

TEST(Fault, ACopyThatTellsItHasWritten) {
  for (const sn::Device device : gpus()) {
    Ints x = sn::tensor({1, 1, 1});
    const sn::Lazy<std::int64_t> later = sn::Lazy<std::int64_t>(x) + 1;
    const Ints r = sn::tensor({7, 8, 9}).to(device) % sn::tensor({0, 3, 5}).to(device);
    EXPECT_THAT(message_of<sn::Error>([&] { x.copy_(r); }), HasSubstr("divided by zero"));
    EXPECT_EQ(x.to_vector(), (std::vector<std::int64_t>{0, 2, 4}));
    EXPECT_THAT(message_of<sn::Error>([&] { Ints y = later; }), HasSubstr("written to"));
  }
}

TEST(Fault, WhatNeedsNoCheckHasNone) {
  const Ints a = sn::arange(5), b = sn::tensor({1, 0, 2, 0, 4});
  EXPECT_THAT(sn::cuda_source(a % b), HasSubstr("report(p.fault, p.division_by_zero_code)"));
  EXPECT_THAT(sn::cuda_source(a % std::integral_constant<int, 3>()), testing::Not(HasSubstr("fault")));
  EXPECT_THAT(sn::cuda_source(a.to<float>() % b), testing::Not(HasSubstr("fault")));
  for (const sn::Device device : devices()) {
    const Ints x = a.to(device), y = b.to(device);
    EXPECT_THAT(message([&] { return x % sn::where(y == 0, 1, y); }), IsEmpty());
    EXPECT_THAT(message([&] { return x / y; }), IsEmpty());
    EXPECT_THAT(message([&] { return sn::floor_divide(x.to<float>(), y); }), IsEmpty());
  }
}

}  // namespace
}  // namespace sinter_tests
