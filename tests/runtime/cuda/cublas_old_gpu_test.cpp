// Products on a GPU whose cuBLAS multiplies no bfloat16: one of compute capability 7.5.
#include <gtest/gtest.h>

#include <runtime/cuda/cublas_library.hpp>
#include <sinter/sinter.hpp>

#include "fake_gpus.hpp"

namespace {

namespace sn = sinter;
namespace cublas = sn::runtime::cublas;
using BFloats = sn::Tensor<sn::bfloat16, sn::Cuda<>>;

struct CublasOldGpu : ::testing::Test {
  CublasOldGpu() {
    sn::testing::fake_for_expressions().capability = 75;
    blas.calls.clear();
  }
  fake_cublas::Control& blas = sn::testing::fake_blas();
  /// How many kernels of the library's own a product takes.
  template <class F>
  std::size_t kernels_of(F product) {
    const std::size_t before = sn::testing::fake().launches.size();
    product();
    return sn::testing::fake().launches.size() - before;
  }
};

// The fake runs no kernel, so how many there are is all that is seen of conversions.
TEST_F(CublasOldGpu, BFloat16IsMultipliedInFloat32) {
  const BFloats a = sn::ones<sn::bfloat16>({2, 3}, sn::cuda<>), b = sn::ones<sn::bfloat16>({3, 4}, sn::cuda<>);
  BFloats out = sn::empty<sn::bfloat16>({2, 4}, sn::cuda<>);
  EXPECT_EQ(kernels_of([&] { out.assign(sn::matmul(a, b)); }), 3u);
  EXPECT_EQ(blas.element_type, cublas::real_32f);
  EXPECT_EQ(blas.calls["cublasLtMatmul"], 1);
  EXPECT_EQ(kernels_of([&] { out.assign(sn::matmul(a, b) * 2 + out); }), 4u);
  EXPECT_EQ(blas.calls["cublasLtMatmul"], 2);
  EXPECT_NO_THROW(out.assign(sn::matmul(a, b) * 0));
}

TEST_F(CublasOldGpu, OthersAreMultipliedAsTheyAre) {
  const auto a = sn::ones<sn::half>({2, 2}, sn::cuda<>);
  auto out = sn::Tensor<sn::half, sn::Cuda<>>(sn::empty<sn::half>({2, 2}, sn::cuda<>));
  EXPECT_EQ(kernels_of([&] { out.assign(sn::matmul(a, a)); }), 0u);
  EXPECT_EQ(blas.element_type, cublas::real_16f);
}

}  // namespace
