// Many threads: the same expression, different ones, one entry with many keys.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <jit/run/executable.hpp>
#include <sinter/jit/evaluate.hpp>
#include "device_arrays.hpp"
#include "fake_gpu.hpp"
#include "setup.hpp"
#include "trees.hpp"

namespace sinter::testing {
namespace {

const sinter::test::Setup threads_compile(sinter::test::keep_kernels_in_memory);

constexpr int thread_count = 8;

template <class F>
void on_threads(F f) {
  std::vector<std::thread> threads;
  std::atomic<int> ready = 0;
  for (int i = 0; i < thread_count; ++i)
    threads.emplace_back([&, i] {
      for (++ready; ready < thread_count;) std::this_thread::yield();
      f(i);
    });
  for (std::thread& t : threads) t.join();
}

class EvaluateThreads : public ::testing::TestWithParam<Device> {};

/// x * y + number.
Written product_and(int number) {
  Written p;
  return p.leaf(DType::Int32).leaf(DType::Int32).op(Op::mul).constant(number).op(Op::add);
}

TEST_P(EvaluateThreads, TheSameExpression) {
  const TensorRef x = device_array(DType::Int32, {3}, GetParam(), {1, 2, 3}),
                  y = device_array(DType::Int32, {3}, GetParam(), {4, 5, 6});
  Tree tree(product_and(7), {x, y});
  const std::uint64_t before = jit_stats().compiles;
  std::atomic<int> wrong = 0;
  on_threads([&](int) {
    for (int i = 0; i < 50; ++i) {
      TensorRef out;
      jit::evaluate(tree.bound(), &out);
      wrong += values_of(*out) != std::vector<std::uint64_t>{11, 17, 25};
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(jit_stats().compiles - before, 1u);
}

TEST_P(EvaluateThreads, DifferentExpressionsOfOneShape) {
  const TensorRef x = device_array(DType::Int32, {2}, GetParam(), {1, 2}),
                  y = device_array(DType::Int32, {2}, GetParam(), {4, 5});
  std::atomic<int> wrong = 0;
  on_threads([&](int thread) {
    for (int round = 0; round < 3; ++round) {
      const int number = 100 + (thread + round) % 4;
      Tree tree(product_and(number), {x, y});
      TensorRef out;
      jit::evaluate(tree.bound(), &out);
      wrong += values_of(*out) != std::vector<std::uint64_t>{static_cast<std::uint64_t>(4 + number),
                                                             static_cast<std::uint64_t>(10 + number)};
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(EvaluateThreads, OneEntryWithManyKeysAndClasses) {
  // Equal leaves, given outputs and layouts change within one call-site cache.
  const Device device = GetParam();
  Tree distinct(product_and(1000), {device_array(DType::Int32, {2, 4}, device, {1, 2, 3, 4, 5, 6, 7, 8}),
                                    device_array(DType::Int32, {4}, device, {1, 1, 2, 2})});
  jit::Bound bound = distinct.bound();
  const TensorRef row = device_array(DType::Int32, {4}, device, {1, 2, 3, 4});
  const TensorRef backwards = runtime::view(*row, {4}, {-1}, 3);
  std::atomic<int> wrong = 0;
  on_threads([&](int thread) {
    for (int round = 0; round < 20; ++round) {
      TensorImpl* leaves[2] = {row.get(), (thread + round) % 2 ? row.get() : backwards.get()};
      jit::Bound mine = bound;
      mine.leaves = leaves;
      const bool given = (thread + round) % 3 == 0;
      TensorRef out = given ? runtime::empty({4}, round % 2 ? DType::Int64 : DType::Int32, device) : TensorRef();
      jit::evaluate(mine, &out);
      const auto v = values_of(*out);
      const bool same = (thread + round) % 2;
      wrong += v != (same ? std::vector<std::uint64_t>{1001, 1004, 1009, 1016}
                          : std::vector<std::uint64_t>{1004, 1006, 1006, 1004});
    }
  });
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, EvaluateThreads, ::testing::ValuesIn(test_devices()),
                         [](const auto& i) { return std::string(i.param.is_cpu() ? "Cpu" : "Gpu"); });

TEST(EvaluateThreadsOnAFake, CompilesEveryVariantOnce) {
  if (test_devices().size() < 2) GTEST_SKIP() << "no GPU";
  FakeGpu gpu("threads");
  gpu.compile_time = std::chrono::milliseconds(5);
  jit::use_gpu(1, &gpu);
  const auto somewhere = [](const Shape& shape, std::uintptr_t address) {
    TensorRef t = runtime::iota_tensor(shape, Device(1));
    t->dtype = DType::Int32;
    t->data = reinterpret_cast<std::byte*>(address);
    return t;
  };
  const TensorRef x = somewhere({64}, 1 << 20), y = somewhere({64}, (1 << 20) + 4), z = somewhere({1}, 1 << 20);
  Tree tree(product_and(31337), {x, y});
  jit::Bound bound = tree.bound();
  on_threads([&](int thread) {
    for (int round = 0; round < 30; ++round) {
      TensorImpl* choices[] = {x.get(), y.get(), z.get()};
      TensorImpl* leaves[] = {choices[(thread + round) % 2], choices[2]};
      jit::Bound mine = bound;
      mine.leaves = leaves;
      TensorRef out = somewhere({64}, 1 << 28);
      jit::evaluate(mine, &out);
    }
  });
  EXPECT_EQ(gpu.compiles, 2);
  EXPECT_EQ(gpu.loads, 2);
  EXPECT_EQ(gpu.launches, thread_count * 30);
  jit::use_gpu(1, nullptr);
}

}  // namespace
}  // namespace sinter::testing
