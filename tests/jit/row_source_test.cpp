// The text of kernels that reduce.
#include <jit/cuda/source.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <jit/plan/class_key.hpp>
#include "golden.hpp"
#include "golden_kernels.hpp"

namespace sinter::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const Kernel& kernel, const jit::KernelClass& c) {
  return jit::cuda::source(kernel, jit::KernelTraits(kernel), c);
}

TEST(RowSource, Golden) {
  for (const GoldenKernel& k : golden_row_kernels()) test::expect_golden(k.name + ".cu", k.text(jit::cuda::source));
}

TEST(RowSource, RowsThatAreKept) {
  const Kernel k = Softmax().done();
  const std::string text = text_of(k, row_class(k, 4096, 1024));
  EXPECT_THAT(text, HasSubstr("shuffle_xor("));
  EXPECT_THAT(text, HasSubstr("reinterpret_cast<const Vec<float, 4>*>(x0_thread)["));
}

TEST(RowSource, RowsThatSharedMemoryHolds) {
  const Kernel k = Softmax().done();
  EXPECT_THAT(text_of(k, row_class(k, 4096, 40000)), HasSubstr("extern __shared__"));
}

TEST(RowSource, InPlaceHasNoRestrict) {
  const Kernel k = Softmax().done();
  EXPECT_THAT(text_of(k, row_class(k, 10, 1024)), HasSubstr("__restrict__"));
  EXPECT_THAT(text_of(k, row_class(k, 10, 1024, false, true)), Not(HasSubstr("__restrict__")));
}

TEST(RowSource, TheGenericClassHasEveryDim) {
  const Kernel k = Softmax().done();
  const std::string text = text_of(k, jit::generic_class(jit::KernelTraits(k)));
  EXPECT_THAT(text, HasSubstr("row_extent7"));
  EXPECT_THAT(text, HasSubstr(" extent7"));
  EXPECT_THAT(text, HasSubstr("fast_divide64(d2"));
}

}  // namespace
}  // namespace sinter::testing
