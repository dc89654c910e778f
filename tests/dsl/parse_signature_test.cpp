// Signatures as text: names, dtypes and shapes of arguments.
#include <sinter/dsl/parse.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "devices.hpp"

namespace sinter {
namespace {

using sinter_tests::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Signature, ReadsDtypesAndShapes) {
  const auto s = parse_signature("z: f32[n], y: float32[n, 4], w: bf16[*, n], k: i64[], s: double, m:bool[2],");
  ASSERT_EQ(s.size(), 6u);
  EXPECT_EQ(s[0], (ArgumentType{"z", DType::Float32, false, {{"n"}}}));
  EXPECT_EQ(s[1].shape[1], (SymbolicExtent{"", 4}));
  EXPECT_EQ(s[2].dtype, DType::BFloat16);
  EXPECT_EQ(s[2].shape[0].symbol, "*");
  EXPECT_FALSE(s[3].is_number);
  EXPECT_TRUE(s[4].is_number);
  std::string all;
  for (const ArgumentType& a : s) all += to_string(a) + ";";
  EXPECT_EQ(all, "z: f32[n];y: f32[n, 4];w: bf16[*, n];k: i64[];s: f64;m: bool[2];");
  for (int t = 0; t < dtype_count; ++t)
    EXPECT_EQ(parse_signature(fmt::format("a: {}[n]", name(DType(t))))[0].dtype, DType(t));
}

TEST(Signature, RefusesWhatIsNone) {
  const auto error = [](std::string_view text) { return message_of<ParseError>([&] { parse_signature(text); }); };
  EXPECT_THAT(error(""), HasSubstr("z: f32[n]"));
  EXPECT_THAT(error("z"), HasSubstr("':' and the dtype"));
  EXPECT_THAT(error("z: f23[n]"),
              AllOf(HasSubstr("no dtype 'f23'"), HasSubstr("did you mean 'f32'?"), HasSubstr("^^^")));
  EXPECT_THAT(error("z: f32[n"), HasSubstr("',' or ']'"));
  EXPECT_THAT(error("z: f32[-1]"), HasSubstr("an extent"));
  EXPECT_THAT(error("z: f32[1.5]"), HasSubstr("an extent"));
  EXPECT_THAT(error("z: f32 y: f32"), HasSubstr("',' or the end"));
  EXPECT_THAT(error("z: f32, z: f32"), HasSubstr("twice"));
  EXPECT_THAT(error("z: f32[a,a,a,a,a,a,a,a,a]"), HasSubstr("at most 8"));
  EXPECT_THAT(error("not: f32"), HasSubstr("cannot be a name"));
}

TEST(Signature, MatchesTensors) {
  const auto s = parse_signature("z: f32[n], k: f64, y: i64[n, m], w: f32[*, 2]");
  const AnyTensor z = zeros({3}), y = zeros<std::int64_t>({3, 5}), w = zeros({7, 2});
  const auto symbols = match(s, std::vector{z, y, w});
  EXPECT_EQ(symbols, (std::map<std::string, std::int64_t>{{"m", 5}, {"n", 3}}));
  const auto error = [&]<class E>(std::type_identity<E>, const AnyTensor& a, const AnyTensor& b, const AnyTensor& c) {
    return message_of<E>([&] { match(s, std::vector{a, b, c}); });
  };
  const std::type_identity<ShapeError> shape;
  EXPECT_THAT(error(shape, zeros({4}), y, w), AllOf(HasSubstr("y: i64[n, m]"), HasSubstr("n is 4 before")));
  EXPECT_THAT(error(shape, zeros({3, 1}), y, w), HasSubstr("2 axes, not 1"));
  EXPECT_THAT(error(shape, z, y, zeros({7, 3})), HasSubstr("axis 1 has 3 elements"));
  EXPECT_THAT(error(std::type_identity<DTypeError>(), z, z, w), HasSubstr("another dtype"));
  EXPECT_THAT(message_of<Error>([&] { match(s, std::vector{z}); }), HasSubstr("3 arguments that are tensors, but 1"));
}

}  // namespace
}  // namespace sinter
