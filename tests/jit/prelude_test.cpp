#include <jit/cuda/prelude.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <jit/cuda/conditions.hpp>
#include <sinter/jit/ops.hpp>

namespace sinter::testing {
namespace {

using jit::cuda::identifiers;
using jit::cuda::prelude_for;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Prelude, Identifiers) {
  EXPECT_THAT(identifiers("a + ::expf(x.at[l]) * sinter::divide(0x1p-24f, 1.5e3f)  // not this\nT(2u)"),
              ElementsAre("a", "x", "l", "sinter", "divide", "T"));
  EXPECT_TRUE(identifiers("").empty());
}

TEST(Prelude, TakesWhatIsUsedAndNothingElse) {
  EXPECT_EQ(prelude_for("t0 + t1"), "");
  const std::string exp = prelude_for("exp(t0)");
  EXPECT_THAT(exp, HasSubstr("float exp(float a)"));
  EXPECT_THAT(exp, HasSubstr("#define SINTER_DEVICE"));
  EXPECT_THAT(exp, Not(HasSubstr("expm1")));
  EXPECT_THAT(exp, Not(HasSubstr("philox")));
}

TEST(Prelude, FollowsUsesInOrder) {
  const std::string text = prelude_for("random_normal(t0, p.s0)");
  const auto at = [&](const char* what) { return text.find(what); };
  EXPECT_LT(at("struct Philox"), at("float random_normal("));
  EXPECT_LT(at("using uint64"), at("struct Philox"));
  EXPECT_LT(at("float uniform24("), at("float random_normal("));
  EXPECT_EQ(at("random_bits"), std::string::npos);
}

TEST(Prelude, ConditionsOfOthersStay) {
  const std::string text =
      "#if defined(A) && defined(C)\n1\n#elif defined(B)\n2\n#else\n3\n#endif\n#ifndef C\n#ifdef "
      "B\n4\n#endif\n#endif\n";
  using jit::cuda::Macro;
  using jit::cuda::resolve_conditions;
  EXPECT_EQ(resolve_conditions(text, {}), text);
  EXPECT_EQ(resolve_conditions(text, std::vector<Macro>{{"A", false}, {"B", true}, {"C", false}}), "2\n4\n");
  EXPECT_EQ(resolve_conditions(text, std::vector<Macro>{{"A", false}, {"B", false}, {"C", true}}), "3\n");
  EXPECT_EQ(resolve_conditions(text, std::vector<Macro>{{"B", false}}),
            "#if defined(A) && defined(C)\n1\n#else\n3\n#endif\n#ifndef C\n#endif\n");
}

TEST(Prelude, DefinesEveryFunctionOfTheTable) {
  for (int number = 0; number < op_count; ++number) {
    const OpInfo& op = info(static_cast<Op>(number));
    if (op.is_composite) continue;
    for (const std::string_view word : identifiers(body(static_cast<Op>(number)))) {
      if (word.size() == 1) continue;  // operands and T
      EXPECT_THAT(prelude_for(std::string(word) + "(a)"), HasSubstr(std::string(word) + "(")) << op.name;
    }
  }
}

}  // namespace
}  // namespace sinter::testing
