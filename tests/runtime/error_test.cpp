#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sinter/runtime/error.hpp>

namespace {

using ::testing::HasSubstr;

TEST(Error, CompileErrorHoldsLogAndNumberedSource) {
  const sinter::CompileError e("kernel k was refused", "k.cu(2): error: no\n", "int a;\nint b\n\n}");
  EXPECT_EQ(e.log(), "k.cu(2): error: no\n");
  EXPECT_EQ(e.source(), "int a;\nint b\n\n}");
  EXPECT_STREQ(e.what(),
               "kernel k was refused\nk.cu(2): error: no\nThe source:\n"
               "    1 | int a;\n    2 | int b\n    3 | \n    4 | }\n");
}

TEST(Error, CompileErrorWithoutLogOrSource) {
  const sinter::CompileError e("refused", "", "");
  EXPECT_THAT(e.what(), HasSubstr("no log"));
  EXPECT_STREQ(e.what(), "refused\n(the compiler gave no log)\nThe source:\n");
}

template <class E>
class EveryError : public ::testing::Test {};
using Errors = ::testing::Types<sinter::DeviceError, sinter::ShapeError, sinter::DTypeError, sinter::IndexError,
                                sinter::OutOfMemory, sinter::CudaError, sinter::FormatError>;
TYPED_TEST_SUITE(EveryError, Errors);

TYPED_TEST(EveryError, IsAnErrorWithItsMessage) {
  try {
    throw TypeParam("what happened");
  } catch (const sinter::Error& e) {
    EXPECT_STREQ(e.what(), "what happened");
  }
}

}  // namespace
