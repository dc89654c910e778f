#include <dsl/checked_axis.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include <sinter/sinter.hpp>

namespace sn = sinter;
using sn::detail::checked_axis;

namespace {

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const sn::IndexError& error) {
    return error.what();
  }
  return "";
}

TEST(CheckedAxis, CountsFromEitherEnd) {
  const sn::Tensor<float> x = sn::zeros({2, 3});
  EXPECT_EQ(checked_axis("f", 0, x.impl()), 0);
  EXPECT_EQ(checked_axis("f", 1, x.impl()), 1);
  EXPECT_EQ(checked_axis("f", -1, x.impl()), 1);
  EXPECT_EQ(checked_axis("f", -2, x.impl()), 0);
  EXPECT_EQ(checked_axis("f", -1, 3, x.impl()), 2);
  EXPECT_EQ(checked_axis("f", -1, 3, x.shape()), 2);
}

TEST(CheckedAxis, SaysWhatThereIs) {
  const sn::Tensor<float> x = sn::zeros({2, 3}), none = sn::zeros({});
  EXPECT_EQ(message_of([&] { checked_axis("f", 2, x.impl()); }),
            "f: dimension out of range (expected to be in range of [-2, 1], but got 2) for float32 (2, 3) on cpu");
  EXPECT_EQ(message_of([&] { checked_axis("f", -4, 3, x.shape()); }),
            "f: dimension out of range (expected to be in range of [-3, 2], but got -4) for shape (2, 3)");
  EXPECT_EQ(message_of([&] { checked_axis("f", 0, none.impl()); }),
            "f: dimension out of range (there is none, but got 0) for float32 () on cpu");
  for (const std::int64_t far : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
    EXPECT_NE(message_of([&] { checked_axis("f", far, x.impl()); }), "");
}

// Every function that takes an axis names itself.
TEST(CheckedAxis, IsNamedByItsOperation) {
  const sn::Tensor<float> x = sn::zeros({2, 3});
  const sn::Tensor<std::int64_t> i = sn::zeros<std::int64_t>({1});
  sn::Tensor<float> y = sn::zeros({2, 3});
  const auto starts = [](const char* what, auto f) {
    EXPECT_THAT(message_of(f), testing::StartsWith(std::string(what) + ": dimension out of range")) << what;
  };
  starts("size", [&] { (void)x.size(2); });
  starts("transpose", [&] { (void)x.transpose(0, 2); });
  starts("gather", [&] { (void)x.gather(2, i); });
  starts("index_select", [&] { (void)sn::zeros({}).index_select(1, i); });
  starts("index_add_", [&] { y.index_add_(2, i, x); });
  starts("cat", [&] { (void)sn::cat(2, x, x); });
  starts("stack", [&] { (void)sn::stack(3, x, x); });
  starts("roll", [&] { (void)sn::roll(x, {1}, {2}); });
}

}  // namespace
