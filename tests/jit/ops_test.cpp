#include <sinter/jit/ops.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sinter {
namespace {

OpTypes types(Op op, std::initializer_list<OperandType> operands) {
  return op_types(op, {operands.begin(), operands.size()});
}

constexpr OperandType boolean{DType::Bool}, i32{DType::Int32}, i64{DType::Int64}, f32{DType::Float32},
    f64{DType::Float64};
constexpr OperandType weak_bool{DType::Bool, true}, weak_int{DType::Int64, true}, weak_float{DType::Float32, true};

TEST(Ops, EveryLineOfTheTableIsComplete) {
  std::set<std::string_view> names;
  for (int i = 0; i < op_count; ++i) {
    const OpInfo& about = info(static_cast<Op>(i));
    const std::string_view tokens = body(static_cast<Op>(i));
    EXPECT_TRUE(names.insert(about.name).second) << about.name << " is there twice";
    if (static_cast<Op>(i) < first_table_op) continue;
    EXPECT_NE(about.rule, DTypeRule::None) << about.name;
    EXPECT_GE(about.arity, 1) << about.name;
    EXPECT_LE(about.arity, about.is_composite ? 5 : 3) << about.name;
    EXPECT_FALSE(tokens.empty()) << about.name;
    EXPECT_FALSE(doc(static_cast<Op>(i)).empty()) << about.name;
    // The body reads exactly the operands that the arity promises.
    for (int k = 0; k < 5; ++k) {
      const char operand = static_cast<char>('a' + k);
      bool reads = false;
      for (std::size_t p = tokens.find(operand); p != std::string_view::npos; p = tokens.find(operand, p + 1)) {
        const auto is_word = [&](std::size_t at) {
          return at < tokens.size() && (std::isalnum(static_cast<unsigned char>(tokens[at])) || tokens[at] == '_');
        };
        reads |= !is_word(p + 1) && (p == 0 || !is_word(p - 1));
      }
      EXPECT_EQ(reads, k < about.arity) << about.name << ": " << operand;
    }
  }
  EXPECT_GE(op_count, 45);
}

TEST(Ops, PromotionOfTensors) {
  EXPECT_EQ(types(Op::add, {i32, i64}).result, DType::Int64);
  EXPECT_EQ(types(Op::add, {i64, f32}).result, DType::Float32);
  EXPECT_EQ(types(Op::add, {f32, f64}).result, DType::Float64);
  EXPECT_EQ(types(Op::add, {boolean, boolean}).result, DType::Bool);
  EXPECT_EQ(types(Op::div, {i32, i32}).result, DType::Float32);
  EXPECT_EQ(types(Op::exp, {boolean}).compute, DType::Float32);
  EXPECT_EQ(types(Op::lt, {i32, f64}).compute, DType::Float64);
  EXPECT_EQ(types(Op::lt, {i32, f64}).result, DType::Bool);
  EXPECT_EQ(types(Op::where, {boolean, i32, f32}).result, DType::Float32);
  EXPECT_EQ(types(Op::logical_and, {f32, i32}).compute, DType::Bool);
}

TEST(Ops, ScalarsLiftTheCategoryOnly) {
  EXPECT_EQ(types(Op::mul, {i32, weak_int}).result, DType::Int32);
  EXPECT_EQ(types(Op::mul, {i32, weak_float}).result, DType::Float32);
  EXPECT_EQ(types(Op::mul, {f64, weak_float}).result, DType::Float64);
  EXPECT_EQ(types(Op::mul, {boolean, weak_int}).result, DType::Int64);
  EXPECT_EQ(types(Op::mul, {boolean, weak_bool}).result, DType::Bool);
  EXPECT_EQ(types(Op::mul, {weak_int, weak_float}).result, DType::Float32);
  EXPECT_EQ(types(Op::where, {boolean, weak_int, weak_float}).result, DType::Float32);
}

TEST(Ops, RefusedOperands) {
  EXPECT_FALSE(types(Op::sub, {boolean, boolean}).ok);
  EXPECT_TRUE(types(Op::sub, {boolean, i32}).ok);
  EXPECT_FALSE(types(Op::bitwise_and, {f32, i32}).ok);
  EXPECT_TRUE(types(Op::bitwise_and, {boolean, i32}).ok);
  EXPECT_FALSE(types(Op::gelu, {i32}).ok);
  EXPECT_FALSE(types(Op::where, {f32, f32, f32}).ok);
  EXPECT_FALSE(types(Op::cast, {f32}).ok);
}

}  // namespace
}  // namespace sinter
