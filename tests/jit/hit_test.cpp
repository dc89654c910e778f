// A hit allocates nothing but its output.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include <jit/run/executable.hpp>
#include <sinter/jit/evaluate.hpp>
#include "device_arrays.hpp"
#include "fake_gpu.hpp"
#include "setup.hpp"
#include "trees.hpp"

namespace {

const sinter::test::Setup compiles(sinter::test::keep_kernels_in_memory);

std::atomic<long> allocations{0};

}  // namespace

// Not inlined: the compiler would see malloc meet delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace sinter::testing {
namespace {

constexpr int hits = 100;

/// (x0 + x1) * s + x2 + ... of `count` arrays.
Written chain(int count) {
  Written p;
  p.leaf(DType::Float32);
  for (int i = 1; i < count; ++i) {
    p.leaf(DType::Float32).op(Op::add);
    if (i == 1) p.scalar(Category::Float).op(Op::mul);
  }
  return p;
}

/// Allocations of some evaluations into an existing array, after a first one.
long allocations_of(Tree& tree, TensorRef out) {
  jit::evaluate(tree.bound(), &out);
  const long before = allocations;
  for (int i = 0; i < hits; ++i) jit::evaluate(tree.bound(), &out);
  return allocations - before;
}

TEST(Hit, AllocatesNothingOnTheCpu) {
  for (const int count : {2, 3, 5, 10})
    for (const Shape& shape : {Shape{3}, Shape{4, 1000}}) {
      std::vector<TensorRef> arrays;
      for (int i = 0; i < count; ++i) {
        const Shape row{shape[shape.ndim() - 1]};
        arrays.push_back(runtime::empty(i % 2 ? row : shape, DType::Float32, Device()));
      }
      Tree tree(chain(count), arrays, {2.0});
      EXPECT_EQ(allocations_of(tree, runtime::empty(shape, DType::Float32, Device())), 0) << count;
    }
}

TEST(Hit, AllocatesNothingOnAGpu) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  FakeGpu gpu("hit");
  jit::use_gpu(1, &gpu);
  const auto somewhere = [](const Shape& shape, std::uintptr_t address) {
    TensorRef t = runtime::iota_tensor(shape, Device(1));
    t->dtype = DType::Float32;
    t->data = reinterpret_cast<std::byte*>(address);
    return t;
  };
  for (const int count : {2, 3, 5, 10}) {
    std::vector<TensorRef> arrays;
    for (int i = 0; i < count; ++i) arrays.push_back(somewhere(i % 2 ? Shape{8} : Shape{6, 8}, 1 << 20));
    Tree tree(chain(count), arrays, {2.0});
    // The fake keeps the words of each launch: one allocation that is its own.
    EXPECT_EQ(allocations_of(tree, somewhere({6, 8}, 1 << 28)), hits) << count;
  }
  jit::use_gpu(1, nullptr);
}

}  // namespace
}  // namespace sinter::testing
