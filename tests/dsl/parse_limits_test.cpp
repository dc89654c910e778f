// Texts beyond the limits: they are rejected in little time, with little stack and a short message.
#include <sinter/dsl/parse.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <utility>

#include "devices.hpp"
#include "text_test.hpp"

namespace sinter {
namespace {

using sinter_tests::message_of;
using ::testing::HasSubstr;

class ParseLimits : public sinter_tests::TextTest {
 protected:
  ParseLimits() { operands = {{"x", x}, {"i", i}}; }
  const Tensor<float> x = Tensor<float>((arange<float>(6) * 0.37f + 0.5f).sin().reshape({2, 3}));
  const Tensor<std::int64_t> i = arange(6).reshape({2, 3}) - 2;
};

std::string many(std::string_view s, int n) {
  std::string all;
  for (int k = 0; k < n; ++k) all += s;
  return all;
}

TEST_F(ParseLimits, DepthAndLengthAreBounded) {
  for (const char* deep : {"(", "-", "not ", "x**", "exp(", "[", "x.exp(", "2 ** -"})
    EXPECT_THAT(error(many(deep, 100'000)), HasSubstr("nested deeper than 200 levels")) << deep;
  is(many("(", 150) + "x" + many(")", 150), +1 * x);
  is("x" + many(" + 1", 3000), [&] {
    Lazy<AnyType> sum = x;
    for (int k = 0; k < 3000; ++k) sum = sum + 1;
    return sum;
  }());
  // The time for very many names and arguments does not grow quadratically.
  std::string names = "x", calls = "exp(x", types;
  for (int k = 0; k < 50'000; ++k) {
    names += fmt::format("+q{}", k);
    calls += fmt::format(",q{}=1", k);
    types += fmt::format("q{}:f32,", k);
  }
  EXPECT_THAT(error(names), HasSubstr("'q0'"));
  EXPECT_THAT(error(calls), HasSubstr("at most 256 arguments"));
  EXPECT_THAT(message_of<ParseError>([&] { parse_signature(types); }), HasSubstr("at most 256"));
  EXPECT_THAT(error(std::string(2 << 20, ' ')), HasSubstr("are read at most"));
  EXPECT_LT(error("x + " + many("abcdefgh", 10'000)).size(), 100'000u);
}

TEST_F(ParseLimits, WorkIsBounded) {
  EXPECT_THAT(error("x" + many("+x", 70'000)), HasSubstr("at most 131072 numbers, names, operators and calls"));
  EXPECT_THAT(error("x" + many(".T", 5000)), HasSubstr("at most 4096 calls and indices"));
  EXPECT_THAT(error("x" + many("[:]", 5000)), HasSubstr("at most 4096 calls and indices"));
  // Shapes are derived from those of the operands: 20,000 products in no more than a few seconds under any sanitizer.
  const AnyTensor m = ones({2, 2});
  EXPECT_EQ(parse("m" + many("@m", 20'000), {{"m", m}}).node()->dtype(), DType::Float32);
  EXPECT_THAT(message_of<ShapeError>([&] { parse("m @ v", {{"m", m}, {"v", ones({3})}}); }), HasSubstr("m @ v"));
}

/// On a thread with so little stack.
void on_small_stack(std::size_t bytes, const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  const auto run = [](void* f) -> void* { return (*static_cast<const std::function<void()>*>(f))(), nullptr; };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST_F(ParseLimits, NestingTakesNoStack) {
  on_small_stack(256 << 10, [&] {
    for (const auto& [open, close] : {std::pair("(", ")"), {"exp(", ")"}, {"-", ""}, {"1**", ""}, {"+(x, ", ")[1]"}})
      EXPECT_NO_THROW(ParsedExpression(many(open, 95) + "x" + many(close, 95))) << open;
    is(many("(", 199) + "x" + many(")", 199), +1 * x);
    is(many("-", 198) + "x", +1 * x);
    is(many("abs(", 199) + "x" + many(")", 199), x.abs());
    is("x" + many(".abs()", 3000), x.abs());
    EXPECT_EQ(ParsedExpression(many("x[", 199) + "0" + many("]", 199)).names(), std::vector<std::string>{"x"});
    EXPECT_THAT(error(many("(", 200) + "x" + many(")", 200)), HasSubstr("nested deeper than 200 levels"));
    const Lazy<AnyType> deep = parse("x" + many("+1", 3000), {{"x", x}});
    EXPECT_THAT(explain(deep), HasSubstr("kernel"));
    EXPECT_THAT(to_dot(deep), HasSubstr("digraph"));
    EXPECT_EQ(Tensor<float>(AnyTensor(Tensor(deep))).shape(), Shape(2, 3));
  });
}

TEST_F(ParseLimits, TheLeastInteger) {
  const AnyTensor least = value("0 * i + -9223372036854775808");
  EXPECT_EQ(least.dtype(), DType::Int64);
  EXPECT_TRUE(same(least, value("0 * i + (-9223372036854775807 - 1)")));
  EXPECT_TRUE(same(least, value("0 * i + (-9223372036854775808)")));
  for (const char* text : {"i + 9223372036854775808", "i - 9223372036854775808", "i + -9223372036854775809",
                           "i + -9223372036854775808 ** 2", "i + --9223372036854775808", "i + +9223372036854775808"})
    EXPECT_THAT(message_of<Error>([&] { value(text); }), HasSubstr("this integer does not fit 64 bits")) << text;
  EXPECT_THAT(message_of<ParseError>([] { parse_signature("z: f32[9223372036854775808]"); }),
              HasSubstr("does not fit 64 bits"));
}

TEST_F(ParseLimits, MessagesStayShort) {
  const std::string name = many("q", 200'000);
  for (const std::string& text :
       {name, name + "(x)", "x " + name, "exp(x, " + name + "=1)", "x." + name, "x." + name + "()"})
    EXPECT_LT(message_of<Error>([&] { value(text); }).size(), 2000u);
  for (const std::string& text : {name, "z: " + name, name + ": f32, " + name + ": f32"})
    EXPECT_LT(message_of<ParseError>([&] { parse_signature(text); }).size(), 2000u);
}

}  // namespace
}  // namespace sinter
