#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sinter/runtime/error.hpp>
#include <sinter/runtime/precision.hpp>

namespace sinter {
namespace {

TEST(Precision, IsOneOfThreeWords) {
  EXPECT_EQ(float32_matmul_precision(), "highest");
  for (const std::string_view word : {"medium", "high", "highest"}) {
    set_float32_matmul_precision(word);
    EXPECT_EQ(float32_matmul_precision(), word);
  }
  EXPECT_THAT(
      [] { set_float32_matmul_precision("low"); },
      ::testing::ThrowsMessage<Error>("set_float32_matmul_precision(\"low\"): the precision must be \"highest\", "
                                      "\"high\" or \"medium\""));
  EXPECT_EQ(float32_matmul_precision(), "highest");
}

}  // namespace
}  // namespace sinter
