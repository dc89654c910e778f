// Products of matrices by cuBLASLt, which here multiplies on streams of a driver made for tests: every layout that is
// asked for is read in column-major order, as the real one reads it.
#include "fake_gpus.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <numeric>
#include <random>

#include <runtime/cuda/cublas_products.hpp>
#include <sinter/runtime/backend.hpp>
#include <sinter/sinter.hpp>

namespace sn = sinter;
using sn::runtime::Matrix;
using sn::runtime::MatrixProduct;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

namespace {

struct CublasProducts : ::testing::Test {
  CublasProducts() {
    sn::testing::fake_for_expressions();
    const int objects = blas.objects;
    blas = {};
    blas.objects = objects;
  }
  fake_cublas::Control& blas = sn::testing::fake_blas();
  sn::runtime::GpuBackend& gpu = sn::runtime::gpu(0);
};

template <class T>
sn::Tensor<T, sn::Cuda<>> on_gpu(const std::vector<T>& values, const sn::Shape& shape) {
  return sn::tensor(values, shape).to(sn::cuda<>);
}
std::vector<float> numbers(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& v : values) v = static_cast<float>(static_cast<int>(random() % 17) - 8);  // sums of these are exact
  return values;
}

/// Element (row, column) of a matrix whose elements are `values`.
float at(const std::vector<float>& values, const Matrix& m, std::int64_t row, std::int64_t column, std::int64_t batch) {
  if (m.transposed) std::swap(row, column);
  return values[static_cast<std::size_t>(batch * m.step + row * m.leading + column)];
}

/// With these layouts, all by hand.
void expect_product(sn::runtime::GpuBackend& gpu, MatrixProduct p, bool adds) {
  const std::int64_t size = 4096;
  const std::vector<float> a = numbers(size, 1), b = numbers(size, 2), before = numbers(size, 3);
  const std::vector<float> added = numbers(size, 4);
  const auto x = on_gpu(a, {size}), y = on_gpu(b, {size}), w = on_gpu(added, {size});
  auto z = on_gpu(before, {size});
  p.a.data = reinterpret_cast<std::byte*>(x.data()), p.b.data = reinterpret_cast<std::byte*>(y.data());
  p.c.data = reinterpret_cast<std::byte*>(z.data());
  if (adds) p.addend.data = reinterpret_cast<std::byte*>(w.data());
  gpu.multiply(p);
  const std::vector<float> result = z.to_vector();
  std::vector<float> right = before;
  for (std::int64_t i = 0; i < p.batch; ++i)
    for (std::int64_t r = 0; r < p.rows; ++r)
      for (std::int64_t c = 0; c < p.columns; ++c) {
        float sum = 0;
        for (std::int64_t k = 0; k < p.inner; ++k) sum += at(a, p.a, r, k, i) * at(b, p.b, k, c, i);
        sum *= static_cast<float>(p.alpha);
        if (adds) sum += static_cast<float>(p.beta) * at(added, p.addend, r, c, i);
        right[static_cast<std::size_t>(i * p.c.step + r * p.c.leading + c)] = sum;
      }
  EXPECT_EQ(result, right);
}

TEST_F(CublasProducts, EveryLayout) {
  for (const bool transposed_a : {false, true})
    for (const bool transposed_b : {false, true})
      for (const std::int64_t gap : {0, 3})
        for (const std::int64_t batch : {1, 4}) {
          SCOPED_TRACE(fmt::format("{} {} gap {} batch {}", transposed_a, transposed_b, gap, batch));
          MatrixProduct p{.rows = 5, .columns = 7, .inner = 3, .batch = batch};
          p.a = {nullptr, (transposed_a ? p.rows : p.inner) + gap, transposed_a, batch > 1 ? 100 : 0};
          p.b = {nullptr, (transposed_b ? p.inner : p.columns) + gap, transposed_b, 0};
          p.c = {nullptr, p.columns + gap, false, batch > 1 ? 200 : 0};
          expect_product(gpu, p, false);
          p.addend = {nullptr, p.columns + 2 * gap, false, batch > 1 ? 150 : 0};
          p.alpha = 2, p.beta = 3;
          expect_product(gpu, p, true);
        }
}

TEST_F(CublasProducts, EveryDtypeHasItsTypes) {
  namespace cublas = sn::runtime::cublas;
  const auto expect = [&]<class T>(T, int scale, int compute) {
    const std::vector<T> a{T(1), T(2), T(3), T(4)}, b{T(5), T(6), T(7), T(8)};
    const sn::Tensor<T, sn::Cuda<>> c = sn::matmul(on_gpu(a, {2, 2}), on_gpu(b, {2, 2}));
    EXPECT_EQ(c.to_vector(), (std::vector<T>{T(19), T(22), T(43), T(50)}));
    EXPECT_EQ(blas.scale_type, scale);
    EXPECT_EQ(blas.compute_type, compute);
  };
  expect(1.f, cublas::real_32f, cublas::compute_32f);
  EXPECT_EQ(blas.reductions, cublas::reduce_in_compute_type);
  expect(1., cublas::real_64f, cublas::compute_64f);
  expect(sn::half(1), cublas::real_32f, cublas::compute_32f);
  expect(sn::bfloat16(1), cublas::real_32f, cublas::compute_32f);
  expect(std::complex<float>(1), cublas::complex_32f, cublas::compute_32f);
  expect(std::complex<double>(1), cublas::complex_64f, cublas::compute_64f);
}

TEST_F(CublasProducts, FloatsAreRoundedWhereTheUserAllowsIt) {
  namespace cublas = sn::runtime::cublas;
  const auto a = on_gpu(numbers(12, 1), {2, 6});
  const auto compute_type = [&] {
    sn::Tensor(sn::matmul(a, a.t()));
    return blas.compute_type;
  };
  EXPECT_EQ(compute_type(), cublas::compute_32f);
  sn::set_float32_matmul_precision("high");
  EXPECT_EQ(compute_type(), cublas::compute_32f_fast_tf32);
  sn::set_float32_matmul_precision("highest");
}

TEST_F(CublasProducts, AlgorithmsAreAskedForOnce) {
  const auto a = on_gpu(numbers(64, 1), {8, 8});
  for (int i = 0; i < 5; ++i) sn::Tensor(sn::matmul(a, a));
  EXPECT_LE(blas.calls["cublasLtMatmulAlgoGetHeuristic"], 1);
  EXPECT_EQ(blas.calls["cublasLtMatmul"], 5);
}

TEST_F(CublasProducts, AddressesSayHowTheyAreAligned) {
  namespace cublas = sn::runtime::cublas;
  const auto flat = on_gpu(numbers(64, 1), {64});
  sn::Tensor(sn::matmul(flat.narrow(0, 1, 9).reshape({3, 3}), flat.narrow(0, 16, 9).reshape({3, 3})));
  // To cuBLAS, whose order is by columns, the right operand is the first one.
  EXPECT_EQ(blas.alignments[cublas::preference_alignment_a], 64u);
  EXPECT_EQ(blas.alignments[cublas::preference_alignment_b], 4u);
  EXPECT_EQ(blas.alignments[cublas::preference_alignment_c], 256u);
}

TEST_F(CublasProducts, ABatchOfLinearLayersIsOneProduct) {
  const auto x = on_gpu(numbers(2 * 3 * 5 * 4, 1), {2, 3, 5, 4}), w = on_gpu(numbers(6 * 4, 2), {6, 4});
  const sn::Tensor<float, sn::Cuda<>> y = sn::matmul(x, w.t());
  EXPECT_EQ(y.shape(), (sn::Shape{2, 3, 5, 6}));
  EXPECT_EQ(blas.calls["cublasLtMatmul"], 1);
  blas.calls.clear();
  sn::Tensor(sn::matmul(x, x.transpose(-2, -1)));
  EXPECT_EQ(blas.calls["cublasLtMatmul"], 1);  // six matrices
  blas.calls.clear();
  sn::Tensor(sn::matmul(x, on_gpu(numbers(3 * 4 * 2, 3), {3, 4, 2})));
  EXPECT_EQ(blas.calls["cublasLtMatmul"], 2);  // three matrices twice
  blas.calls.clear();
  sn::Tensor(sn::matmul(x, on_gpu(numbers(4, 4), {4})));
  EXPECT_EQ(blas.calls["cublasLtMatmul"], 1);
}

TEST_F(CublasProducts, WhatFailsIsNamed) {
  const auto a = on_gpu(numbers(6, 1), {2, 3}), b = on_gpu(numbers(33, 1), {3, 11});
  blas.found = 0;
  EXPECT_THAT([&] { sn::Tensor(sn::matmul(a, b)); },
              ThrowsMessage<sn::CudaError>(AllOf(HasSubstr("cublasLtMatmulAlgoGetHeuristic failed"),
                                                 HasSubstr("CUBLAS_STATUS_NOT_SUPPORTED (15)"),
                                                 HasSubstr("1 x (2 x 3) (3 x 11) of float32"))));
  blas.found = 1;
  for (const char* call :
       {"cublasLtMatmulDescCreate", "cublasLtMatrixLayoutCreate", "cublasLtMatrixLayoutSetAttribute",
        "cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceSetAttribute", "cublasLtMatmul"}) {
    const int objects = blas.objects;
    blas.fail_call = call, blas.fail_result = 14;
    EXPECT_THAT([&] { sn::Tensor(sn::matmul(a, b)); },
                ThrowsMessage<sn::CudaError>(
                    AllOf(HasSubstr(std::string(call) + " failed"), HasSubstr("CUBLAS_STATUS_INTERNAL_ERROR (14)"))));
    EXPECT_EQ(blas.objects - objects, std::string(call) == "cublasLtMatmul" ? 5 : 0) << call;  // a plan is kept
  }
  blas.fail_call.clear();
  EXPECT_EQ(sn::Tensor(sn::matmul(a, b)).shape(), (sn::Shape{2, 11}));
}

TEST_F(CublasProducts, MemoryIsGivenBack) {
  const auto a = on_gpu(numbers(64, 1), {8, 8});
  sn::Tensor(sn::matmul(a, a));
  sn::synchronize(sn::Device(0));
  const auto before = sn::memory_stats(sn::Device(0)).in_use;
  blas.workspace = 5000;
  for (const std::int64_t n : {8, 7, 6}) sn::Tensor(sn::matmul(a.narrow(1, 0, n), a.narrow(0, 0, n)));
  sn::synchronize(sn::Device(0));
  EXPECT_EQ(sn::memory_stats(sn::Device(0)).in_use, before);
}

}  // namespace
