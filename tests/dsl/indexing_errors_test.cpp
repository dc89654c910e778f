// Gathers with indices out of range, and with operands that do not match.
#include "devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sinter_tests {
namespace {

namespace sn = sinter;
using sn::AnyTensor;
using sn::Shape;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using Floats = sn::Tensor<float>;
using Ints = sn::Tensor<std::int64_t>;

/// The message of evaluating and waiting.
template <class F>
std::string fault(F&& f) {
  return message_of<sn::IndexError>([&] { (void)f().cpu(); });
}

TEST(AxisMapping, OneOutOfRangeAmongMany) {
  for (const sn::Device device : devices()) {
    const Floats x = sn::arange<float>(6).reshape({2, 3}).to(device);
    for (const std::int64_t n : {3, 100, device.is_cpu() ? 1 << 20 : 1 << 13})
      for (const std::int64_t bad : {2, -3, 1000000000}) {
        Ints index = sn::zeros<std::int64_t>({n}, device);
        EXPECT_THAT(fault([&] { return Floats(x[index]); }), IsEmpty());
        index[n - 2] = bad;
        Floats r;
        const std::string said = fault([&] { return r = x[index]; });
        EXPECT_THAT(said, AllOf(HasSubstr("IndexError"), HasSubstr("sinter_axis_offset"), HasSubstr("-n to -1")));
        if (device.is_cpu())
          EXPECT_THAT(said, HasSubstr("index " + std::to_string(bad) + " is out of range for 2 positions"));
        else
          EXPECT_THAT(said, HasSubstr("found on " + sn::to_string(device)));
      }
    const Ints ids = sn::tensor({0, 2}).to(device);
    EXPECT_THAT(fault([&] { return Ints(sn::one_hot(ids, 2)); }), HasSubstr("indices are 0 to n - 1:"));
    EXPECT_THAT(fault([&] { return Ints(sn::one_hot(ids - 1, 2)); }), HasSubstr("out of range"));
    EXPECT_THAT(fault([&] { return Floats(sn::take(x, ids * 3)); }), HasSubstr("out of range"));
    EXPECT_THAT(fault([&] { return Floats(x.index_select(1, ids + 1)); }), HasSubstr("out of range"));
    EXPECT_THAT(fault([&] { return Floats(x.gather(0, ids.reshape({1, 2}))); }), HasSubstr("out of range"));
    EXPECT_THAT(fault([&] { return Floats(sn::eager(x[ids] * 2)); }), HasSubstr("out of range"));
    EXPECT_THAT(fault([&] { return Floats(sn::Lazy<float>(x[ids]) * 2); }), HasSubstr("out of range"));
    // Position 0 was taken instead; all others are correct.
    Floats part;
    EXPECT_THAT(fault([&] { return part = sn::take(x, sn::tensor({5, 6, 4}).to(device)); }), HasSubstr("out of range"));
    if (!device.is_cpu()) {
      EXPECT_EQ(part.to_vector(), (std::vector<float>{5, 0, 4}));
    }
  }
}

TEST(AxisMapping, BothFaultsOfAKernelHaveTheirMessage) {
  for (const sn::Device device : devices()) {
    const Ints x = sn::tensor({5, 6}).to(device), fine = sn::tensor({0, 1}).to(device);
    const Ints zero = sn::tensor({1, 0}).to(device), far = sn::tensor({0, 2}).to(device), one = fine * 0 + 1;
    const auto said = [&](const Ints& index, const Ints& divisor) {
      return message_of<sn::Error>([&] { (void)Ints(x[index] % divisor).cpu(); });
    };
    EXPECT_THAT(said(fine, one), IsEmpty());
    EXPECT_THAT(said(far, one), HasSubstr("IndexError"));
    EXPECT_THAT(said(fine, zero), HasSubstr("ZeroDivisionError"));
    EXPECT_THAT(said(far, zero), HasSubstr("Error: "));
  }
}

TEST(AxisMapping, NoPositions) {
  for (const sn::Device device : devices()) {
    const Floats none = sn::zeros({0, 3}, device), x = sn::zeros({2, 3}, device);
    const Ints empty = sn::zeros<std::int64_t>({0}, device), some = sn::zeros<std::int64_t>({2}, device);
    EXPECT_EQ(Floats(none[empty]).shape(), (Shape{0, 3}));
    EXPECT_EQ(Floats(x[empty] + 1).shape(), (Shape{0, 3}));
    EXPECT_EQ(Floats(none.index_select(1, some)).shape(), (Shape{0, 2}));
    EXPECT_EQ(Floats(sn::take(none, empty)).shape(), (Shape{0}));
    EXPECT_EQ(Ints(sn::one_hot(empty, 3)).shape(), (Shape{0, 3}));
    EXPECT_THAT(message_of<sn::IndexError>([&] { (void)none[some]; }),
                AllOf(HasSubstr("x: float32 (0, 3)"), HasSubstr("index: int64 (2,)")));
    EXPECT_THROW((void)sn::take(none, some), sn::IndexError);
    EXPECT_THROW((void)none.gather(0, some.reshape({2, 1})), sn::IndexError);
    EXPECT_THROW((void)sn::one_hot(empty, 0), sn::IndexError);
    EXPECT_THROW((void)sn::one_hot(empty, (std::int64_t{1} << 31) + 1), sn::IndexError);
  }
}

TEST(AxisMapping, ErrorsTeach) {
  const Floats x = sn::zeros({2, 3});
  const Ints i = sn::tensor({0, 1});
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)x.index_select(2, i); }),
              HasSubstr("expected to be in range of [-2, 1], but got 2"));
  EXPECT_THAT(message_of<sn::IndexError>([&] { (void)sn::zeros({})[i]; }), HasSubstr("dimension out of range"));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)x.index_select(0, i.reshape({1, 2})); }),
              HasSubstr("one dimension, or none"));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)x.gather(0, i); }),
              AllOf(HasSubstr("as many dimensions as x"), HasSubstr("x: float32 (2, 3) on cpu"),
                    HasSubstr("index: int64 (2,) on cpu")));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)x.gather(1, i.expand({4, 2})); }),
              HasSubstr("larger than x along dimension 0"));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)x.take_along_dim(i.expand({4, 2}), 1); }),
              HasSubstr("do not broadcast"));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::embedding(x.reshape({6}), i); }), HasSubstr("a matrix"));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)x[i.reshape({1, 1, 1, 1, 1, 1, 1, 2})]; }),
              HasSubstr("more than 8 dimensions"));
  const AnyTensor mask = i > 0, floats = i.to<float>();
  EXPECT_THAT(message_of<sn::DTypeError>([&] { (void)x[mask]; }),
              HasSubstr("indices are integers that int64 holds, not bool"));
  EXPECT_THAT(message_of<sn::DTypeError>([&] { (void)sn::take(x, floats * 1); }), HasSubstr("not float32"));
  const Floats moved_from;
  EXPECT_THROW((void)moved_from[i], sn::Error);
  EXPECT_THROW((void)x[Ints()], sn::Error);
  if (devices().size() < 2) return;
  EXPECT_THAT(message_of<sn::DeviceError>([&] { (void)x[i.to(devices()[1])]; }),
              AllOf(HasSubstr("found at least two devices, cpu and cuda:0"), HasSubstr("x[index]"),
                    HasSubstr("index: int64 (2,) on cuda:0")));
}

}  // namespace
}  // namespace sinter_tests
