// Arrays and offsets past 2^31 elements. Takes some 9 GB and a minute, so it runs only with SINTER_TEST_LARGE=1.
#include <gtest/gtest.h>

#include <sinter/jit/evaluate.hpp>
#include "device_arrays.hpp"
#include "trees.hpp"

namespace sinter::testing {
namespace {

constexpr std::int64_t past = (std::int64_t{1} << 31) + 5;

class Large : public ::testing::TestWithParam<Device> {
  void SetUp() override {
    if (!std::getenv("SINTER_TEST_LARGE")) GTEST_SKIP() << "SINTER_TEST_LARGE is not set";
  }
};

bool element_at(const TensorImpl& t, std::int64_t i) {
  return values_of(*jit::to(*runtime::view(t, {1}, {1}, i), DType::Bool, Device()))[0] != 0;
}

TEST_P(Large, MoreElementsThan31BitsCount) {  // i % 3 == 0
  Written p;
  p.leaf(DType::Int64).constant(3).op(Op::remainder).constant(0).op(Op::eq);
  Tree tree(p, {runtime::iota_tensor({past}, GetParam())});
  TensorRef out;
  jit::evaluate(tree.bound(), &out);
  for (const std::int64_t i : {std::int64_t{0}, std::int64_t{1}, past / 2, past - 7, past - 6, past - 2, past - 1})
    EXPECT_EQ(element_at(*out, i), i % 3 == 0) << i;
}

TEST_P(Large, OffsetsThat31BitsDoNotHold) {
  const TensorRef base = runtime::empty({past + 10}, DType::Bool, GetParam());
  const auto column = [&](std::int64_t first) { return runtime::view(*base, {2, 3}, {past, 1}, first); };
  jit::copy(*column(0), *device_array(DType::Bool, {2, 3}, GetParam(), {1, 0, 1, 0, 1, 1}));
  Tree tree(Written().leaf(DType::Bool).op(Op::logical_not), {column(0)});
  TensorRef out;
  jit::evaluate(tree.bound(), &out);
  EXPECT_EQ(values_of(*out), (std::vector<std::uint64_t>{0, 1, 0, 1, 0, 0}));
  EXPECT_TRUE(element_at(*base, past + 2));
}

INSTANTIATE_TEST_SUITE_P(Devices, Large, ::testing::ValuesIn(test_devices()),
                         [](const auto& i) { return std::string(i.param.is_cpu() ? "Cpu" : "Gpu"); });

}  // namespace
}  // namespace sinter::testing
