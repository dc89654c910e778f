// cuda_source, ptx and inspect: what an expression would become.
#include <sinter/jit/inspect.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <jit/evaluate/evaluator.hpp>
#include <sinter/runtime/error.hpp>
#include "device_arrays.hpp"
#include "trees.hpp"

namespace sinter::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TensorRef zero_array(const Shape& shape, Device device = {}) {
  return device_array(f32, shape, device, std::vector<std::uint64_t>(static_cast<std::size_t>(shape.numel())));
}

Written example() {
  Written p;
  return p.leaf(f32).scalar(Category::Int).op(Op::add).op(Op::exp).leaf(f32).op(Op::mul);
}

TEST(Inspect, CudaSourceOfArraysOnTheCpu) {
  Tree tree(example(), {zero_array({64}), zero_array({64})}, {std::int64_t{2}});
  const JitStats before = jit_stats();
  const std::string text = jit::cuda_source(tree.bound());
  EXPECT_THAT(text, AllOf(HasSubstr("__global__"), HasSubstr("sinter_add_exp_mul_f32_"), HasSubstr("exp(t"),
                          HasSubstr("Vec<float, 4>"), HasSubstr("__restrict__")));
  EXPECT_EQ(jit_stats().compiles, before.compiles);
  EXPECT_EQ(jit_stats().launches, before.launches);
}

TEST(Inspect, TheTextFollowsTheLayout) {
  const TensorRef base = zero_array({65});
  Tree tree(example(), {runtime::view(*base, {64}, {1}, 1), zero_array({64})}, {std::int64_t{2}});
  EXPECT_THAT(jit::cuda_source(tree.bound()), Not(HasSubstr("Vec<float")));
}

TEST(Inspect, TheTextIsThatWhichRuns) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  Tree on_gpu(example(), {zero_array({64}, Device(0)), zero_array({64}, Device(0))}, {std::int64_t{2}});
  Tree on_cpu(example(), {zero_array({64}), zero_array({64})}, {std::int64_t{2}});
  EXPECT_EQ(jit::cuda_source(on_gpu.bound()), jit::cuda_source(on_cpu.bound()));
}

TEST(Inspect, SeveralKernelsFollowEachOther) {
  Written p;
  p.leaf(f32);
  for (int i = 0; i < 200; ++i) p.op(i * i % 7 < 3 ? Op::tanh : i % 3 ? Op::sin : Op::cos);  // no kernel like another
  Tree tree(p, {zero_array({8})});
  const std::string text = jit::cuda_source(tree.bound());
  std::size_t kernels = 0;
  for (std::size_t at = text.find("__global__"); at != std::string::npos; at = text.find("__global__", at + 1))
    ++kernels;
  EXPECT_EQ(kernels, jit::inspect(tree.bound()).plans[0].ready->kernels.size());
  EXPECT_GT(kernels, 1u);
}

TEST(Inspect, Ptx) {
  Tree tree(example(), {zero_array({64}), zero_array({64})}, {std::int64_t{2}});
  std::string ptx;
  try {
    ptx = jit::ptx(tree.bound(), "sm_90");
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();
  }
  EXPECT_THAT(ptx, AllOf(HasSubstr(".target sm_90"), HasSubstr(".visible .entry sinter_add_exp_mul_f32_"),
                         HasSubstr("ld.global.nc.v4"), HasSubstr("st.global.v4"), Not(HasSubstr("fma.rn.f32 %f0"))));
  EXPECT_EQ(jit::ptx(tree.bound(), "compute_90"), ptx);
  EXPECT_THROW(jit::ptx(tree.bound(), "sm_12345"), Error);
}

TEST(Inspect, PlansAndShapes) {
  Written p;  // two outputs of different shapes
  p.leaf(f32).op(Op::exp).leaf(f32, 0).leaf(f32).op(Op::mul);
  p.outputs = 2;
  const TensorRef x = zero_array({3}), y = zero_array({2, 3});
  Tree apart(p, {x, x, y});
  const jit::Inspection two = jit::inspect(apart.bound());
  ASSERT_EQ(two.plans.size(), 1u);
  EXPECT_EQ(two.outputs, (std::vector<Shape>{{3}, {2, 3}}));
  EXPECT_EQ(two.plans[0].shapes.outputs, two.outputs);
  EXPECT_EQ(two.plans[0].shapes.kernels, (std::vector<Shape>{{3}, {2, 3}}));
  Tree together(p, {x, x, x});
  const jit::Inspection one = jit::inspect(together.bound());
  ASSERT_EQ(one.plans.size(), 1u);
  EXPECT_EQ(one.plans[0].shapes.kernels, std::vector<Shape>{{3}});
}

TEST(Inspect, LazyExpressions) {
  const TensorRef x = zero_array({64}), y = zero_array({64});
  Tree tree(example(), {x, y}, {std::int64_t{2}});
  const jit::LazyRef grown = [&] {
    const jit::LazyRef sum[] = {jit::lazy(*x), jit::lazy(jit::Scalar(std::int64_t{2}), Category::Int)};
    const jit::LazyRef exp[] = {jit::lazy(Op::add, sum)};
    const jit::LazyRef product[] = {jit::lazy(Op::exp, exp), jit::lazy(*y)};
    return jit::lazy(Op::mul, product);
  }();
  EXPECT_EQ(jit::explain(grown), jit::explain(tree.bound()));
  EXPECT_EQ(jit::cuda_source(grown), jit::cuda_source(tree.bound()));
  EXPECT_EQ(jit::to_dot(grown), jit::to_dot(tree.bound()));
  EXPECT_EQ(jit::result_shape(grown), (Shape{64}));
  EXPECT_THROW((void)jit::explain(jit::LazyRef()), Error);
}

}  // namespace
}  // namespace sinter::testing
