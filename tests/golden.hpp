// Texts kept under tests/golden, for review.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace sinter::test {

/// Compares a text with the file of this name; SINTER_UPDATE_GOLDEN=1 writes the file instead.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = SINTER_TEST_DATA "/../golden/" + name;
  if (std::getenv("SINTER_UPDATE_GOLDEN")) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream in(path);
  ASSERT_TRUE(in) << path << " is missing: run with SINTER_UPDATE_GOLDEN=1";
  EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(in), {}));
}

}  // namespace sinter::test
