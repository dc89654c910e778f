#include <jit/run/executable.hpp>

#include <gtest/gtest.h>

#include <set>

#include <jit/evaluate/evaluator.hpp>
#include <jit/plan/nest.hpp>
#include <sinter/jit/inspect.hpp>
#include "device_arrays.hpp"
#include "fake_gpu.hpp"
#include "setup.hpp"
#include "trees.hpp"

namespace sinter::testing {
namespace {

const sinter::test::Setup executable_compiles(sinter::test::keep_kernels_in_memory);

/// Sends the kernels of cuda:1 to a fake GPU while it lives.
class OnFakeGpu {
 public:
  OnFakeGpu() { jit::use_gpu(1, &gpu); }
  ~OnFakeGpu() { jit::use_gpu(1, nullptr); }
  FakeGpu gpu{std::to_string(next_++)};  // a cache of its own

 private:
  static inline int next_ = 0;
};

/// An array of cuda:1 that no kernel will touch.
TensorRef somewhere(const Shape& shape, const Shape& strides, std::uintptr_t address = 1 << 20) {
  TensorRef t = runtime::iota_tensor(shape, Device(1));
  t->dtype = DType::Float32;
  t->strides = strides;
  t->contiguous = strides == contiguous_strides(shape);
  t->data = reinterpret_cast<std::byte*>(address);
  return t;
}
TensorRef somewhere(const Shape& shape, std::uintptr_t address = 1 << 20) {
  return somewhere(shape, contiguous_strides(shape), address);
}

/// (x + y) * scalar + number: graphs with different numbers share no kernel.
Written sum_and_scalar(int number) {
  Written p;
  p.leaf(DType::Float32).leaf(DType::Float32).op(Op::add).scalar(Category::Float).op(Op::mul);
  return p.constant(number).op(Op::add);
}

/// Some number of elements.
std::int64_t n_for(std::int64_t step) { return 10 + std::abs(step); }

void run(Written p, TensorRef x, TensorRef y, TensorRef out, double scalar = 1) {
  Tree tree(std::move(p), {std::move(x), std::move(y)}, {scalar});
  jit::evaluate(tree.bound(), &out);
}

constexpr std::uintptr_t elsewhere = std::uintptr_t{1} << 30;

TEST(Executable, AnotherScalarSizeOrStrideNeverRecompiles) {
  if (!has_gpu()) GTEST_SKIP();
  OnFakeGpu fake;
  for (const double scalar : {1.0, 2.5, -3.0})
    for (const std::int64_t n : {1, 3, 4, 7, 1000, 1 << 20})
      run(sum_and_scalar(1), somewhere({n}), somewhere({n}), somewhere({n}, elsewhere), scalar);
  EXPECT_EQ(fake.gpu.compiles, 1);
  for (const std::int64_t step : {2, 3, -5, 100})
    run(sum_and_scalar(1), somewhere({n_for(step)}, Shape{step}), somewhere({n_for(step)}),
        somewhere({n_for(step)}, elsewhere));
  EXPECT_EQ(fake.gpu.compiles, 2);
  for (const std::int64_t width : {8, 16, 4096})
    run(sum_and_scalar(1), somewhere({5, width}), somewhere({width}), somewhere({5, width}, elsewhere));
  EXPECT_EQ(fake.gpu.compiles, 3);
  EXPECT_EQ(fake.gpu.launches, 3 * 6 + 4 + 3);
}

TEST(Executable, MisalignedArraysRunAnotherVariant) {
  if (!has_gpu()) GTEST_SKIP();
  OnFakeGpu fake;
  run(sum_and_scalar(2), somewhere({64}), somewhere({64}), somewhere({64}, elsewhere));
  run(sum_and_scalar(2), somewhere({64}, (1 << 20) + 4), somewhere({64}), somewhere({64}, elsewhere));
  const auto sources = fake.gpu.sources();
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_NE(sources[0].text.find("Vec<float, 4>"), std::string::npos);
  EXPECT_EQ(sources[1].text.find("Vec<float, 4>"), std::string::npos);
}

TEST(Executable, InPlaceRunsAVariantWithoutRestrict) {
  if (!has_gpu()) GTEST_SKIP();
  OnFakeGpu fake;
  const TensorRef x = somewhere({64}), y = somewhere({64}, elsewhere);
  run(sum_and_scalar(3), x, y, x);
  run(sum_and_scalar(3), x, y, somewhere({64}, 2 * elsewhere));
  const auto sources = fake.gpu.sources();
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].text.find("__restrict__"), std::string::npos);
  EXPECT_NE(sources[1].text.find("__restrict__"), std::string::npos);
}

TEST(Executable, FallsBackToOneGenericVariant) {
  if (!has_gpu()) GTEST_SKIP();
  OnFakeGpu fake;
  // Every choice of contiguous, strided and broadcast for two operands and ndims 1 to 3: far more than 8 classes.
  int launched = 0;
  for (int ndim = 1; ndim <= 4; ++ndim) {
    Shape shape;
    for (int d = 0; d < ndim; ++d) shape.push_back(6 + 2 * d);
    const auto operand = [&](int kind) {
      Shape strides = contiguous_strides(shape);
      if (kind > 0)
        for (std::int64_t* s = const_cast<std::int64_t*>(strides.begin()); s != strides.end(); ++s) *s = *s * 3 + kind;
      return somewhere(shape, strides);
    };
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b, ++launched)
        run(sum_and_scalar(4), operand(a), operand(b), somewhere(shape, elsewhere));
  }
  EXPECT_EQ(fake.gpu.compiles, static_cast<int>(jit::Executable::max_variants) + 1);
  EXPECT_EQ(fake.gpu.launches, launched);
  int generic = 0;
  for (const auto& s : fake.gpu.sources()) generic += s.text.find("extent7") != std::string::npos;
  EXPECT_EQ(generic, 1);
}

TEST(Executable, LookingAddsNoVariant) {
  if (!has_gpu()) GTEST_SKIP();
  OnFakeGpu fake;
  for (const Shape& shape : {Shape{6}, Shape{6, 8}, Shape{6, 8, 10}})
    for (const std::int64_t a : {1, 3, 0})
      for (const std::int64_t b : {1, 3, 0}) {
        const auto operand = [&](std::int64_t stretch) {
          Shape strides = contiguous_strides(shape);
          for (int d = 0; d < shape.ndim(); ++d) strides[d] *= stretch;
          return somewhere(shape, strides);
        };
        Tree tree(sum_and_scalar(50), {operand(a), operand(b)}, {1.0});
        EXPECT_FALSE(jit::cuda_source(tree.bound()).empty());
      }
  run(sum_and_scalar(50), somewhere({4, 6}, {12, 1}), somewhere({4, 6}), somewhere({4, 6}, elsewhere));
  EXPECT_EQ(fake.gpu.sources()[0].text.find("extent7"), std::string::npos);
}

TEST(Executable, PassesItsParametersInOrder) {
  if (!has_gpu()) GTEST_SKIP();
  OnFakeGpu fake;
  run(sum_and_scalar(5), somewhere({6, 8}), somewhere({8}, elsewhere), somewhere({6, 8}, 2 * elsewhere), 2.5);
  const FakeGpu::Seen seen = fake.gpu.last();
  EXPECT_EQ(seen.pointers, 3u);
  EXPECT_EQ(seen.grid, 1u);
  EXPECT_EQ(seen.block, 256u);
  // output, x, y, elements, elements of a row, divider, stride of y between rows, scalar
  ASSERT_EQ(seen.words.size(), 8u);
  EXPECT_EQ(seen.words[0], 2 * elsewhere);
  EXPECT_EQ(seen.words[1], 1u << 20);
  EXPECT_EQ(seen.words[2], elsewhere);
  EXPECT_EQ(seen.words[3], 48u);
  EXPECT_EQ(seen.words[4], 8u);
  EXPECT_EQ(seen.words[6], 0u);
  EXPECT_EQ(seen.words[7], test::to_bits(2.5f));
}

TEST(Executable, GridsHaveABlockForEach256Vectors) {
  if (!has_gpu()) GTEST_SKIP();
  OnFakeGpu fake;
  const auto grid = [&](std::int64_t n) {
    run(sum_and_scalar(6), somewhere({n}), somewhere({n}), somewhere({n}, std::uintptr_t{1} << 40));
    return fake.gpu.last().grid;
  };
  EXPECT_EQ(grid(1), 1u);
  EXPECT_EQ(grid(1024), 1u);
  EXPECT_EQ(grid(1025), 1u);  // the tail is one thread's
  EXPECT_EQ(grid(1028), 2u);
  EXPECT_EQ(grid(std::int64_t{1} << 28), 1u << 18);
  EXPECT_EQ(grid(std::int64_t{1} << 33), 1u << 20);  // the most, whose threads loop
}

TEST(Executable, ZeroElementsLaunchNothing) {
  if (!has_gpu()) GTEST_SKIP();
  OnFakeGpu fake;
  run(sum_and_scalar(7), somewhere({0, 5}), somewhere({5}), somewhere({0, 5}));
  EXPECT_EQ(fake.gpu.launches, 0);
  EXPECT_EQ(fake.gpu.compiles, 0);
}

TEST(Executable, PrepareCompilesAndRunsNothing) {
  if (!has_gpu()) GTEST_SKIP();
  OnFakeGpu fake;
  Tree tree(sum_and_scalar(8), {somewhere({64}), somewhere({64})}, {1.0});
  TensorRef out;
  jit::evaluate(tree.bound(), &out, jit::Mode::Prepare);
  EXPECT_FALSE(out);
  EXPECT_EQ(fake.gpu.compiles, 1);
  EXPECT_EQ(fake.gpu.launches, 0);
  out = somewhere({64}, elsewhere);
  jit::evaluate(tree.bound(), &out);
  EXPECT_EQ(fake.gpu.compiles, 1);
  EXPECT_EQ(fake.gpu.launches, 1);
}

TEST(Executable, ArraysPastTwoToThe31TakeWideIndices) {
  if (!has_gpu()) GTEST_SKIP();
  OnFakeGpu fake;
  const std::int64_t n = std::int64_t{1} << 31;
  run(sum_and_scalar(9), somewhere({n}), somewhere({n}), somewhere({n}, std::uintptr_t{1} << 40));
  ASSERT_EQ(fake.gpu.sources().size(), 1u);
  EXPECT_NE(fake.gpu.sources()[0].text.find("unsigned long long count"), std::string::npos);
  EXPECT_EQ(fake.gpu.last().words[3], static_cast<std::uint64_t>(n));
}

TEST(Executable, StatisticsCount) {
  if (!has_gpu()) GTEST_SKIP();
  OnFakeGpu fake;
  Tree tree(sum_and_scalar(10), {somewhere({64}), somewhere({64})}, {1.0});
  TensorRef out = somewhere({64}, elsewhere);
  jit::evaluate(tree.bound(), &out);
  const JitStats before = jit_stats();
  for (int i = 0; i < 5; ++i) jit::evaluate(tree.bound(), &out);
  const JitStats after = jit_stats();
  EXPECT_EQ(after.launches - before.launches, 5u);
  EXPECT_EQ(after.memory_hits - before.memory_hits, 5u);
  EXPECT_EQ(after.compiles, before.compiles);
  EXPECT_EQ(after.plans, before.plans);
}

TEST(Executable, ManyOperandsAreSpreadOverKernels) {
  if (!has_gpu()) GTEST_SKIP();
  OnFakeGpu fake;
  Written p;
  std::vector<TensorRef> arrays;
  for (int i = 0; i < 150; ++i) {
    p.leaf(DType::Float32);
    if (i) p.op(Op::add);
    arrays.push_back(somewhere({64}));
  }
  Tree tree(std::move(p), arrays);
  TensorRef out = somewhere({64}, elsewhere);
  jit::evaluate(tree.bound(), &out);
  const std::vector<runtime::KernelSource> sources = fake.gpu.sources();
  EXPECT_EQ(sources.size(), 2u);
  EXPECT_LE(fake.gpu.last().words.size() * 8, 32764u);
}

}  // namespace
}  // namespace sinter::testing
