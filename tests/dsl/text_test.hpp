// Texts compared with the equivalent C++ expressions.
#pragma once
#include <sinter/dsl/parse.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "devices.hpp"

#include <gtest/gtest.h>

namespace sinter_tests {

class TextTest : public ::testing::Test {
 protected:
  sinter::AnyTensor value(std::string_view text) const { return sinter::Tensor(sinter::parse(text, operands)); }
  /// Whether the text gives the expression: in dtype, shape and every bit.
  template <class E>
  void is(std::string_view text, const E& expected) const {
    const sinter::AnyTensor got = value(text), wanted{sinter::Tensor(expected)};
    EXPECT_EQ(got.dtype(), wanted.dtype()) << text;
    ASSERT_EQ(got.shape(), wanted.shape()) << text;
    EXPECT_TRUE(same(got, wanted)) << text << "\n" << got << "\n" << wanted;
  }
  static bool same(const sinter::AnyTensor& a, const sinter::AnyTensor& b) {
    return sinter::allclose(a, b, 0, 0, true);
  }
  template <class E = sinter::ParseError>
  std::string error(std::string_view text) const {
    return message_of<E>([&] { value(text); });
  }

  std::vector<sinter::NamedOperand> operands;
};

}  // namespace sinter_tests
