// Texts kept under tests/golden, for review.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace sinter::test {

/// The first line in which two texts differ.
inline std::string first_difference(const std::string& text, const std::string& golden) {
  std::istringstream in(text), expected(golden);
  std::string line, other;
  for (int number = 1;; ++number) {
    const bool has_line(std::getline(in, line)), has_other(std::getline(expected, other));
    if (!has_line) line = "(the end)";
    if (!has_other) other = "(the end)";
    if (line != other || (!has_line && !has_other))
      return "line " + std::to_string(number) + "\n  golden: " + other + "\n  now:    " + line;
  }
}

/// Compares a text with the file of this name; SINTER_UPDATE_GOLDEN=1 writes the file instead.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = SINTER_TEST_DATA "/../golden/" + name;
  if (std::getenv("SINTER_UPDATE_GOLDEN")) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream in(path);
  ASSERT_TRUE(in) << path << " is missing: run with SINTER_UPDATE_GOLDEN=1";
  const std::string golden(std::istreambuf_iterator<char>(in), {});
  if (text != golden) ADD_FAILURE() << path << ", " << first_difference(text, golden);
}

}  // namespace sinter::test
