// SINTER_FUSION=off, which a process reads once: every operation is a kernel.
#include <gtest/gtest.h>

#include <cstdlib>

#include <sinter/jit/evaluate.hpp>
#include "setup.hpp"
#include "trees.hpp"

namespace sinter::testing {
namespace {

const sinter::test::Setup off([] { setenv("SINTER_FUSION", "off", 1); });

TEST(FusionOff, EveryOperationIsAKernel) {
  Written p;
  p.leaf(DType::Float32).leaf(DType::Float32).op(Op::add).op(Op::exp).scalar(Category::Int).op(Op::mul);
  Tree tree(p, {array<float>({0, 1}), array<float>({0, -1})}, {std::int64_t{3}});
  const std::uint64_t before = jit_stats().launches;
  TensorRef out;
  jit::evaluate(tree.bound(), &out);
  EXPECT_EQ(jit_stats().launches - before, 3u);
  EXPECT_EQ(values<float>(out), (std::vector<float>{3, 3}));
}

}  // namespace
}  // namespace sinter::testing
