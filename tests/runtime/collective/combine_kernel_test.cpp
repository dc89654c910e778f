// Combining on a GPU gives the bits of combining on the host.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include <runtime/collective/combine.hpp>
#include <runtime/collective/combine_kernel.hpp>
#include <sinter/runtime/order.hpp>
#include <sinter/runtime/transfer.hpp>

#include "../gpus.hpp"

namespace {

namespace sn = sinter;
namespace runtime = sn::runtime;
using runtime::ReduceOp;
using sn::Device;
using sn::DType;

/// Any bits for integers; for floats numbers of all sizes with infinities.
template <class T>
std::vector<T> values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> all;
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral_v<T>)
      all.push_back(static_cast<T>(random()));
    else if (random() % 50 == 0)
      all.push_back(std::numeric_limits<T>::infinity());
    else
      all.push_back(T(static_cast<float>(std::ldexp(1 + random() * 0x1p-32, static_cast<int>(random() % 40) - 26)) *
                      (random() % 2 ? 1.0f : -1.0f)));
  }
  return all;
}

template <class T>
void expect_equal(ReduceOp how) {
  constexpr std::int64_t arrays = 3, n = 1001;
  const DType dtype = sn::dtype_of<T>;
  SCOPED_TRACE(runtime::combine_kernel(dtype, how).name);
  const std::vector<T> in = values<T>(arrays * n, 3);
  const runtime::TensorRef from = runtime::empty(sn::Shape{arrays * n}, dtype, Device(0));
  const runtime::TensorRef to = runtime::empty(sn::Shape{n}, dtype, Device(0));
  runtime::upload({from->buffer.get(), from->data}, in.data(), in.size() * sizeof(T));
  runtime::combine_on_gpu(runtime::gpu(0), dtype, how, to->data, from->data, arrays, n);
  std::vector<T> got(n);
  runtime::download(got.data(), {to->buffer.get(), to->data}, n * sizeof(T));
  std::vector<std::byte> expected(n * 8);
  const auto* const bytes = reinterpret_cast<const std::byte*>(in.data());
  const std::byte* const sources[] = {bytes, bytes + n * sizeof(T), bytes + 2 * n * sizeof(T)};
  runtime::combine(dtype, how, expected.data(), sources, n);
  runtime::narrow(dtype, expected.data(), expected.data(), n);
  for (std::size_t i = 0; i < n; ++i) {
    T e;
    std::memcpy(&e, expected.data() + i * sizeof(T), sizeof(T));
    if ((got[i] != got[i] && e != e) || (got[i] == e && e == T{})) continue;  // of NaNs and zeros any
    ASSERT_EQ(std::memcmp(&got[i], &e, sizeof(T)), 0) << i << ": " << +got[i] << " " << +e;
  }
}

template <class T>
void expect_equal() {
  for (const ReduceOp how : {ReduceOp::Sum, ReduceOp::Product, ReduceOp::Maximum, ReduceOp::Minimum})
    expect_equal<T>(how);
}

TEST(CombineKernel, GivesTheHostsBits) {
  expect_equal<std::int16_t>();
  expect_equal<sn::half>();
  expect_equal<sn::bfloat16>();
  expect_equal<float>();
  expect_equal<double>();
}

TEST(CombineKernel, ANanMakesANan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const runtime::TensorRef from = runtime::empty(sn::Shape{4}, DType::Float32, Device(0));
  const runtime::TensorRef to = runtime::empty(sn::Shape{2}, DType::Float32, Device(0));
  const float in[] = {nan, 1, 1, nan};
  runtime::upload({from->buffer.get(), from->data}, in, sizeof(in));
  for (const ReduceOp how : {ReduceOp::Sum, ReduceOp::Product, ReduceOp::Maximum, ReduceOp::Minimum}) {
    runtime::combine_on_gpu(runtime::gpu(0), DType::Float32, how, to->data, from->data, 2, 2);
    float got[2];
    runtime::download(got, {to->buffer.get(), to->data}, sizeof(got));
    EXPECT_TRUE(got[0] != got[0] && got[1] != got[1]) << static_cast<int>(how);
  }
}

}  // namespace
