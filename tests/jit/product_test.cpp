#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <jit/plan/product.hpp>
#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/memory.hpp>

namespace sinter::testing {
namespace {

using jit::product_shape;

TEST(Product, ShapesAreThoseOfTorch) {
  const auto expect = [](const Shape& a, const Shape& b, const Shape& result) {
    const std::optional<Shape> found = product_shape(a, b);
    ASSERT_TRUE(found) << to_string(a) << " " << to_string(b);
    EXPECT_EQ(*found, result);
  };
  expect({3}, {3}, {});
  expect({2, 3}, {3}, {2});
  expect({3}, {3, 4}, {4});
  expect({2, 3}, {3, 4}, {2, 4});
  expect({0, 3}, {3, 4}, {0, 4});
  expect({2, 0}, {0, 4}, {2, 4});
  expect({5, 2, 3}, {3}, {5, 2});
  expect({3}, {5, 3, 4}, {5, 4});
  expect({5, 2, 3}, {3, 4}, {5, 2, 4});
  expect({2, 3}, {5, 3, 4}, {5, 2, 4});
  expect({5, 1, 2, 3}, {6, 3, 4}, {5, 6, 2, 4});
  expect({1, 2, 3}, {0, 3, 4}, {0, 2, 4});
}

TEST(Product, ShapesThatAreNotMultiplied) {
  const std::pair<Shape, Shape> pairs[] = {{{}, {3}},
                                           {{3}, {}},
                                           {{3}, {4}},
                                           {{2, 3}, {2, 3}},
                                           {{2, 3}, {4}},
                                           {{3}, {4, 3}},
                                           {{2, 3, 4}, {3, 4, 5}},
                                           {{2, 1, 3}, {2, 4, 1}},
                                           {{0, 3}, {0, 3}}};
  for (const auto& [a, b] : pairs) {
    EXPECT_FALSE(product_shape(a, b)) << to_string(a) << " " << to_string(b);
    EXPECT_FALSE(jit::product_mismatch(a, b).empty());
  }
}

jit::Kernel product_kernel(bool adds = false) {
  jit::Kernel kernel;
  const jit::Operand factors[] = {kernel.graph.leaf(DType::Float32, 0), kernel.graph.leaf(DType::Float32, 1)};
  jit::Operand made = kernel.graph.apply(Op::matmul, factors);
  if (adds) {
    const jit::Operand terms[] = {made, kernel.graph.leaf(DType::Float32, 2)};
    made = kernel.graph.apply(Op::add, terms);
  }
  kernel.graph.output(made);
  return kernel;
}

runtime::TensorRef small_matrix(std::initializer_list<float> values, const Shape& shape) {
  runtime::TensorRef t = runtime::empty(shape, DType::Float32, Device());
  std::ranges::copy(values, reinterpret_cast<float*>(t->data));
  return t;
}

TEST(Product, WritesIntoAnyLayout) {
  const runtime::TensorRef a = small_matrix({1, 2, 3, 4}, {2, 2}), b = small_matrix({5, 6, 7, 8}, {2, 2});
  const runtime::TensorRef memory = small_matrix({0, 0, 0, 0, 0, 0, 0, 0}, {8});
  const auto expect = [&](const Shape& strides, std::int64_t offset, std::initializer_list<float> right) {
    std::fill_n(reinterpret_cast<float*>(memory->data), 8, 0.f);
    const runtime::TensorRef out = runtime::view(*memory, {2, 2}, strides, offset);
    runtime::TensorImpl* const operands[] = {out.get(), a.get(), b.get()};
    jit::multiply(product_kernel(), operands, nullptr);
    EXPECT_TRUE(std::ranges::equal(std::span(reinterpret_cast<const float*>(memory->data), 8), right));
  };
  expect({2, 1}, 0, {19, 22, 43, 50, 0, 0, 0, 0});
  expect({1, 2}, 0, {19, 43, 22, 50, 0, 0, 0, 0});
  expect({4, 1}, 1, {0, 19, 22, 0, 0, 43, 50, 0});
  expect({-2, -1}, 3, {50, 43, 22, 19, 0, 0, 0, 0});
}

std::uint64_t allocations_of(auto work) {
  const std::uint64_t before = memory_stats(Device()).requests;
  work();
  return memory_stats(Device()).requests - before;
}

TEST(Product, AddsInPlace) {
  const runtime::TensorRef a = small_matrix({1, 2, 3, 4}, {2, 2}), b = small_matrix({5, 6, 7, 8}, {2, 2});
  const runtime::TensorRef memory = small_matrix({0, 0, 0, 0, 0, 0, 0, 0}, {8});
  const auto expect = [&](const Shape& strides, std::int64_t offset, bool direct, std::initializer_list<float> right) {
    std::fill_n(reinterpret_cast<float*>(memory->data), 8, 1.f);
    const runtime::TensorRef out = runtime::view(*memory, {2, 2}, strides, offset);
    runtime::TensorImpl* const operands[] = {out.get(), a.get(), b.get(), out.get()};
    EXPECT_EQ(allocations_of([&] { jit::multiply(product_kernel(true), operands, nullptr); }) == 0, direct);
    EXPECT_TRUE(std::ranges::equal(std::span(reinterpret_cast<const float*>(memory->data), 8), right));
  };
  expect({2, 1}, 0, true, {20, 23, 44, 51, 1, 1, 1, 1});
  expect({4, 1}, 1, true, {1, 20, 23, 1, 1, 44, 51, 1});
  expect({1, 2}, 0, false, {20, 44, 23, 51, 1, 1, 1, 1});
  expect({-4, 1}, 5, false, {1, 44, 51, 1, 1, 20, 23, 1});
}

TEST(Product, GraphsThatMultiply) {
  jit::Graph graph;
  const jit::Operand a = graph.leaf(DType::Float32, 0), both[] = {a, a};
  graph.apply(Op::add, both);
  EXPECT_FALSE(jit::multiplies(graph));
  graph.output(graph.apply(Op::matmul, both));
  EXPECT_TRUE(jit::multiplies(graph));
  const jit::Operand others[] = {a, graph.leaf(DType::Float64, 1)};
  EXPECT_THROW(graph.apply(Op::matmul, others), DTypeError);
  const jit::Operand numbers[] = {a, graph.scalar(DType::Float32, Category::Float, 0)};
  EXPECT_THROW(graph.apply(Op::matmul, numbers), DTypeError);
}

}  // namespace
}  // namespace sinter::testing
