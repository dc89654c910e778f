#include <gmock/gmock.h>

#include "nets.hpp"

namespace sn = sinter;
namespace nn = sinter::nn;
using namespace sinter_tests;

namespace {

TEST(Flatten, AxesBecomeOne) {
  const sn::Tensor x = numbers({2, 3, 4});
  expect_near(nn::Flatten()(x), {2, 12}, doubles(x));
  expect_near(nn::Flatten(0, 1)(x * 1), {6, 4}, doubles(x));
  expect_near(nn::Flatten(0)(sn::softmax(x, 0) * 0 + x), {24}, doubles(x));
  EXPECT_EQ(printed(nn::Flatten()), "Flatten(start_dim=1, end_dim=-1)");
  EXPECT_EQ(printed(nn::Flatten(0, 2)), "Flatten(start_dim=0, end_dim=2)");
  EXPECT_THROW((void)nn::Flatten()(numbers({3})), sn::IndexError);
}

TEST(Identity, GivesWhatItTakes) {
  const sn::Tensor x = numbers({2, 3});
  EXPECT_TRUE(nn::Identity()(x).same_storage(x));
  EXPECT_TRUE(sn::equal(nn::Identity()(x + 1), x + 1));
  EXPECT_EQ(printed(nn::Identity()), "Identity()");
}

}  // namespace
