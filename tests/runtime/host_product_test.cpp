// Products on the host, and what is said where OpenBLAS is missing or does not count so far.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include <runtime/cpu/host_product.hpp>
#include <sinter/runtime/error.hpp>

namespace sinter::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

MatrixProduct product_of(std::vector<float>& a, std::vector<float>& b, std::vector<float>& c) {
  const auto bytes = [](std::vector<float>& v) { return reinterpret_cast<std::byte*>(v.data()); };
  return {.rows = 2, .columns = 2, .inner = 2, .a = {bytes(a), 2}, .b = {bytes(b), 2}, .c = {bytes(c), 2}};
}

// First: what is opened stays open.
TEST(HostProduct, WithoutOpenBlas) {
  std::vector<float> a{1, 2, 3, 4}, c(4);
  for (const char* path : {"/nowhere/libblas.so", "libdl.so.2"}) {
    setenv("SINTER_OPENBLAS", path, 1);
    EXPECT_THAT([&] { multiply_on_host(product_of(a, a, c)); },
                ThrowsMessage<DeviceError>(AllOf(HasSubstr("OpenBLAS, which multiplies matrices on the CPU"),
                                                 HasSubstr(path), HasSubstr("apt install libopenblas0"))));
  }
  unsetenv("SINTER_OPENBLAS");
  multiply_on_host(product_of(a, a, c));
  EXPECT_EQ(c, (std::vector<float>{7, 10, 15, 22}));
}

TEST(HostProduct, Batches) {
  std::vector<float> a{1, 2, 3, 4, 1, 0, 0, 1}, b{1, 1, 1, 1}, c(8);
  MatrixProduct p = product_of(a, b, c);
  p.batch = 2, p.a.step = 4, p.c.step = 4;
  multiply_on_host(p);
  EXPECT_EQ(c, (std::vector<float>{3, 3, 7, 7, 1, 1, 1, 1}));
}

TEST(HostProduct, ExtentsPastWhatOpenBlasCounts) {
  std::vector<float> a(4), c(4);
  const auto refuses = [&](auto change) {
    MatrixProduct p = product_of(a, a, c);
    change(p);
    EXPECT_THAT([&] { multiply_on_host(p); }, ThrowsMessage<ShapeError>(HasSubstr("OpenBLAS counts to 2^31 - 1")));
  };
  constexpr std::int64_t large = std::int64_t{1} << 31;
  refuses([](MatrixProduct& p) { p.rows = large; });
  refuses([](MatrixProduct& p) { p.inner = large; });
  refuses([](MatrixProduct& p) { p.b.leading = large; });
}

TEST(HostProduct, NoOtherDtypes) {
  std::vector<float> a(4), c(4);
  MatrixProduct p = product_of(a, a, c);
  p.dtype = DType::Int32;
  EXPECT_THAT([&] { multiply_on_host(p); },
              ThrowsMessage<DtypeError>("matrices of int32 are not multiplied: convert to float32"));
}

}  // namespace
}  // namespace sinter::runtime
