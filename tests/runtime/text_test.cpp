#include <gtest/gtest.h>

#include <runtime/text.hpp>

namespace {

using sinter::runtime::format_bytes;
using sinter::runtime::quote;
using sinter::runtime::shortened;

TEST(Text, Bytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(std::size_t(3) << 29), "1.50 GiB");
  EXPECT_EQ(format_bytes(~std::size_t(0)), "16.00 EiB");
}

TEST(Text, Shortened) {
  EXPECT_EQ(shortened("a text", 10), "a text");
  EXPECT_EQ(shortened("0123456789abcdef", 11), "0123...cdef");
  EXPECT_EQ(shortened(std::string(1 << 20, 'x')).size(), 120u);
  const std::string umlauts = "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4";
  EXPECT_EQ(shortened(umlauts, 10), "\u00e4\u00e4...\u00e4");
}

TEST(Text, Quoted) {
  EXPECT_EQ(quote(""), "\"\"");
  EXPECT_EQ(quote("cuda:1"), "\"cuda:1\"");
  EXPECT_EQ(quote(std::string_view("a\0\n\xff", 4)), "\"a\\x00\\x0a\\xff\"");
  EXPECT_EQ(quote(std::string(60, 'x')), '"' + std::string(60, 'x') + '"');
  EXPECT_EQ(quote(std::string(61, 'x')), '"' + std::string(60, 'x') + "...\"");
}

}  // namespace
