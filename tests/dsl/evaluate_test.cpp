// Explicit evaluation: several results, into, eager, prepare, and inspection.
#include "devices.hpp"

#include <gmock/gmock.h>
#include "setup.hpp"

namespace sn = sinter;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

const sinter::test::Setup evaluation_compiles(sinter::test::keep_kernels_in_memory);

TEST(Evaluate, SeveralResultsInOneKernel) {
  for (const sn::Device& d : sinter_tests::devices()) {
    const auto x = sn::tensor({1.f, 2.f, 3.f}, d);
    const auto before = sn::jit_stats();
    auto [sum, mask, whole] = sn::evaluate(x + 1, x > 1, sn::cast<std::int64_t>(x) * 2);
    EXPECT_EQ(sn::jit_stats().launches - before.launches, 1u) << to_string(d);
    static_assert(std::is_same_v<decltype(mask), sn::Tensor<bool, sn::AnyDevice>>);
    EXPECT_THAT(sum.to_vector(), ElementsAre(2, 3, 4));
    EXPECT_THAT(mask.to_vector(), ElementsAre(false, true, true));
    EXPECT_THAT(whole.to_vector(), ElementsAre(2, 4, 6));
  }
}

TEST(Evaluate, DifferentShapesTogether) {
  const auto x = sn::ones({2, 3}), y = sn::tensor({1.f, 2.f, 3.f});
  auto [a, b] = sn::evaluate(x + y, y * 2);
  EXPECT_EQ(a.shape(), sn::Shape(2, 3));
  EXPECT_THAT(b.to_vector(), ElementsAre(2, 4, 6));
}

TEST(Evaluate, TargetsShareNoMemory) {
  for (const sn::Device& d : sinter_tests::devices()) {
    sn::Tensor<float> x = sn::zeros({6}, d), y = sn::zeros({6}, d);
    const auto message = [](auto evaluate) { return sinter_tests::message_of<sn::Error>(evaluate); };
    const auto head = x(sn::range(0, 4)), tail = x(sn::range(2, 6));
    EXPECT_THAT(message([&] { sn::evaluate(sn::into(head, 1), sn::into(y, 1), sn::into(tail, 2)); }),
                testing::AllOf(HasSubstr("two outputs of one evaluation share memory"),
                               HasSubstr("output 0 is float32 (4,)"), HasSubstr("output 2 is float32 (4,)")));
    EXPECT_THAT(message([&] { sn::evaluate(sn::into(x, y + 1), sn::into(x, y + 2)); }), HasSubstr("share memory"));
    EXPECT_THAT(message([&] { sn::evaluate(sn::into(x, sn::softmax(y, 0)), sn::into(tail, y(sn::range(0, 4)) + 2)); }),
                HasSubstr("share memory"));
    EXPECT_THAT(message([&] { sn::evaluate(sn::into(x.reshape({2, 3})[0], 1), sn::into(x(sn::range(0, 6, 2)), 2)); }),
                HasSubstr("share memory"));
    EXPECT_THAT(x.to_vector(), testing::Each(0));
    sn::evaluate(sn::into(x(sn::range(0, 6, 2)), 1), sn::into(x(sn::range(1, 6, 4)), y(sn::range(0, 2)) + 2));
    EXPECT_THAT(x.to_vector(), ElementsAre(1, 2, 1, 0, 1, 2));
  }
}

TEST(Evaluate, IntoReadsEverythingFirst) {
  for (const sn::Device& d : sinter_tests::devices()) {
    auto x = sn::tensor({1.f, 2.f}, d), y = sn::tensor({10.f, 20.f}, d);
    const auto x_alias = x;
    sn::evaluate(sn::into(x, y + 1), sn::into(y, x + 1));
    EXPECT_THAT(x_alias.to_vector(), ElementsAre(11, 21));
    EXPECT_THAT(y.to_vector(), ElementsAre(2, 3));
  }
}

TEST(Evaluate, IntoViewsAndOfNumbers) {
  using namespace sn::literals;
  for (const sn::Device& d : sinter_tests::devices()) {
    const auto x = sn::zeros({2, 2}, d), y = sn::ones({2}, d), z = sn::ones({3}, d);
    sn::evaluate(sn::into(x[0], y + 1), sn::into(x[1], 7), sn::into(z, 2_c));
    EXPECT_THAT(x.to_vector(), ElementsAre(2, 2, 7, 7));
    EXPECT_THAT(z.to_vector(), ElementsAre(2, 2, 2));
    sn::evaluate(sn::into(z, 0));
    EXPECT_THAT(z.to_vector(), ElementsAre(0, 0, 0));
    EXPECT_THROW(sn::evaluate(sn::into(sn::zeros<std::int32_t>({1}, d), 3'000'000'000)), sn::Error);
  }
}

TEST(Evaluate, ExpressionsMoveAndReadAsTensorsDo) {
  for (const sn::Device& d : sinter_tests::devices()) {
    const auto x = sn::tensor({1.f, 2.f}, d);
    EXPECT_EQ((x + 2).exp().cpu().device(), sn::Device("cpu"));
    EXPECT_EQ((x + 2).cuda().device(), sn::Device(sn::cuda<>));
    EXPECT_EQ((x + 2).cuda(1).device(), sn::Device("cuda:1"));
    EXPECT_EQ((x + 2).to("cuda:1").device(), sn::Device("cuda:1"));
    static_assert(std::is_same_v<decltype((x + 2).to(sn::cuda<0>)), sn::Lazy<float, sn::Cuda<0>>>);
    static_assert(std::is_same_v<decltype((x + 2).to<double>(sn::cpu)), sn::Lazy<double, sn::Cpu>>);
    EXPECT_EQ((x[0] * x[1]).item(), 2.f);
    EXPECT_THAT((x * x).to_vector(), ElementsAre(1, 4));
    EXPECT_EQ((x + sn::ones({3, 1}, d)).shape(), sn::Shape(3, 2));
    const auto e = (x * 1.5f).to<std::int64_t>() + 1;  // one kernel
    const auto before = sn::jit_stats();
    EXPECT_THAT(e.to_vector(), ElementsAre(2, 4));
    EXPECT_EQ(sn::jit_stats().launches - before.launches, 1u);
  }
}

TEST(Evaluate, EagerGivesTheSameInMoreKernels) {
  for (const sn::Device& d : sinter_tests::devices()) {
    const auto x = sn::tensor({1.f, 2.f, 3.f}, d);
    auto e = (x + 2).exp() * x;
    const auto before = sn::jit_stats();
    const auto fused = sn::evaluate(e);
    const auto between = sn::jit_stats();
    const auto eager = sn::eager(e);
    EXPECT_EQ(between.launches - before.launches, 1u);
    EXPECT_EQ(sn::jit_stats().launches - between.launches, 3u);
    EXPECT_TRUE(sn::allclose(fused, eager));
  }
}

TEST(Evaluate, CompilesOnceForAllScalarsAndSizes) {
  const auto run = [](std::int64_t n, float s) {
    const auto x = sn::ones({n}, "cuda:0");
    return sn::Tensor((x * s - 3).sigmoid()).numel();
  };
  run(1000, 1);
  const auto before = sn::jit_stats();
  for (std::int64_t n : {1000, 1004, 4096, 100'000}) EXPECT_EQ(run(n, static_cast<float>(n)), n);
  EXPECT_EQ(sn::jit_stats().compiles, before.compiles);
}

TEST(Evaluate, PrepareCompilesAndRunsNothing) {
  const auto x = sn::ones({10}, "cuda:0");
  auto e = (x * 1.5f).tanh() - x.erf();
  const auto before = sn::jit_stats();
  sn::prepare(e);
  const auto prepared = sn::jit_stats();
  EXPECT_EQ(prepared.compiles - before.compiles, 1u);
  EXPECT_EQ(prepared.launches, before.launches);
  sn::Tensor r = e;
  EXPECT_EQ(sn::jit_stats().compiles, prepared.compiles);
}

TEST(Evaluate, ShowsThePlanAndTheText) {
  const auto x = sn::tensor({1.f, 2.f, 3.f});
  const auto e = (x + 2).exp() * x;
  EXPECT_THAT(sn::explain(e), testing::AllOf(HasSubstr("cpu"), HasSubstr("add"), HasSubstr("exp"), HasSubstr("mul")));
  EXPECT_THAT(sn::cuda_source(e), testing::AllOf(HasSubstr("__global__"), HasSubstr("exp")));
  EXPECT_THAT(sn::to_dot(e), testing::AllOf(HasSubstr("digraph"), HasSubstr("exp")));
  EXPECT_EQ(sn::shape_of(e), sn::Shape(3));
}

TEST(Evaluate, EqualAndAllclose) {
  const auto x = sn::tensor({1.f, NAN});
  EXPECT_FALSE(sn::equal(x, x));
  EXPECT_TRUE(sn::allclose(x, x, 1e-5, 1e-8, true));
  EXPECT_FALSE(sn::allclose(x, x));
  EXPECT_TRUE(sn::allclose(sn::tensor({1.f, INFINITY}), sn::tensor({1.000001f, INFINITY})));
  EXPECT_FALSE(sn::allclose(sn::tensor({1.f}), sn::tensor({INFINITY})));
  EXPECT_FALSE(sn::allclose(sn::tensor<std::int8_t>({-128}), sn::tensor<std::int8_t>({0})));  // the difference wraps
  EXPECT_FALSE(sn::allclose(sn::tensor<std::uint8_t>({0}), sn::tensor<std::uint8_t>({255}), 0, 1));
  EXPECT_FALSE(sn::allclose(sn::AnyTensor(sn::tensor<int>({INT32_MIN})), sn::tensor<int>({0})));
  EXPECT_TRUE(sn::allclose(sn::tensor({true, false}), sn::tensor({true, false})));
  EXPECT_FALSE(sn::equal(sn::ones({2}), sn::ones({3})));
}

TEST(Evaluate, AnExpressionPrints) {
  const auto x = sn::tensor({1.f, 2.f, 3.f});
  EXPECT_EQ(sinter_tests::printed((x + 2).exp() * x), "tensor([ 20.0855, 109.1963, 445.2395])");
}

}  // namespace
