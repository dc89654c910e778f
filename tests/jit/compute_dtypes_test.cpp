// int8, half and their like in graphs: what is computed in their compute_dtypes, and where it is rounded or wraps.
#include <jit/passes/compute_dtypes.hpp>

#include <gtest/gtest.h>

#include <jit/passes/lower.hpp>

#include "programs.hpp"

namespace sinter::testing {
namespace {

int count(const Graph& g, Op op, DType dtype) {
  return static_cast<int>(
      std::ranges::count_if(g.nodes(), [&](const Node& n) { return n.op == op && n.dtype == dtype; }));
}
std::uint64_t value_of(const Written& p, std::vector<std::uint64_t> leaves) {
  return outputs_of(jit::simplify(p.record()), leaves, {})[0];
}
std::uint64_t bits_of(half v) { return v.bits; }

TEST(ComputeDtypes, FloatsAreRoundedOnceAtTheOutput) {
  Written p;
  p.leaf(f16).leaf(f16).op(Op::mul).leaf(f16).op(Op::add).leaf(f16).op(Op::sub);
  const Graph g = jit::lower(p.record());
  EXPECT_EQ(count(g, Op::cast, f16), 1);
  EXPECT_EQ(count(g, Op::cast, f32), 4);
  // 1.001 * 1.001 - 1 + ... keeps the bits that half would drop between.
  const half x(1.0009765625f), one(1.f), zero(0.f);
  EXPECT_EQ(value_of(p, {x.bits, x.bits, zero.bits, one.bits}), bits_of(half(float(x) * float(x) - 1.f)));
}

TEST(ComputeDtypes, ACastRoundsWhereItStands) {
  Written p;
  p.leaf(f16).leaf(f16).op(Op::mul).cast(f16).leaf(f16).op(Op::sub);
  const half x(1.0009765625f), one(1.f);
  EXPECT_EQ(value_of(p, {x.bits, x.bits, one.bits}), bits_of(half(float(half(float(x) * float(x))) - 1.f)));
}

TEST(ComputeDtypes, WhatIsNoFloatTellsOfTheRoundedValue) {
  const half big(300.f);
  const auto of_product = [&](Op op) {
    Written p;
    p.leaf(f16).leaf(f16, 0).op(Op::mul).op(op);
    return value_of(p, {big.bits, big.bits});
  };
  EXPECT_EQ(of_product(Op::isinf), 1u);  // 90000
  EXPECT_EQ(of_product(Op::isfinite), 0u);
  Written equal, number, whole;
  equal.leaf(f16).leaf(f16, 0).op(Op::mul).leaf(f16, 0).leaf(f16, 0).op(Op::mul).leaf(f16, 0).op(Op::add).op(Op::eq);
  EXPECT_EQ(value_of(equal, std::vector<std::uint64_t>(5, big.bits)), 1u);  // both infinite
  number.leaf(f16).scalar(Category::Float).op(Op::eq);
  const std::uint64_t tenth = half(0.1f).bits, written = to_bits(0.1);
  EXPECT_EQ(outputs_of(jit::simplify(number.record()), {&tenth, 1}, {&written, 1})[0], 1u);
  whole.leaf(f16).leaf(f16, 0).op(Op::mul).cast(i32);
  EXPECT_EQ(static_cast<std::int32_t>(value_of(whole, {big.bits, big.bits})), 2147483647);
}

TEST(ComputeDtypes, NumbersAreAsExactAsWhatIsComputed) {
  Written constant, scalar;
  constant.leaf(bf16).constant(257).op(Op::sub);  // bfloat16 has 256 and 258
  EXPECT_EQ(value_of(constant, {bfloat16(256.f).bits}), bfloat16(-1.f).bits);
  scalar.leaf(bf16).scalar(Category::Int).op(Op::sub);
  const std::uint64_t leaf = bfloat16(256.f).bits, number = 257;
  EXPECT_EQ(outputs_of(jit::simplify(scalar.record()), {&leaf, 1}, {&number, 1})[0], bfloat16(-1.f).bits);
}

TEST(ComputeDtypes, IntegersWrapOnlyWhereItShows) {
  Written ring;
  ring.leaf(i8).leaf(i8).op(Op::mul).leaf(i8).op(Op::add).op(Op::neg);
  EXPECT_EQ(count(jit::lower(ring.record()), Op::cast, i8), 1);  // at the output
  Written compared;
  compared.leaf(i8).leaf(i8).op(Op::add).leaf(i8).op(Op::lt);
  EXPECT_EQ(count(jit::lower(compared.record()), Op::cast, i8), 1);  // before it is compared
  EXPECT_EQ(value_of(compared, {100, 100, 0}), 1u);                  // 100 + 100 is -56
  Written selected;
  selected.leaf(i8).leaf(i8).op(Op::maximum).leaf(i8).op(Op::lt);
  EXPECT_EQ(count(jit::lower(selected.record()), Op::cast, i8), 0);
}

TEST(ComputeDtypes, FloatsSaturate) {
  Written p, q;
  p.leaf(f32).cast(i8);
  q.leaf(f32).cast(u8);
  for (const auto& [value, as_i8, as_u8] :
       {std::tuple(300.f, 127, 255), {-300.f, -128, 0}, {1.9f, 1, 1}, {NAN, 0, 0}}) {
    EXPECT_EQ(static_cast<std::int8_t>(value_of(p, {to_bits(value)})), as_i8) << value;
    EXPECT_EQ(static_cast<std::uint8_t>(value_of(q, {to_bits(value)})), as_u8) << value;
  }
}

TEST(ComputeDtypes, CopiesAndConversionsAreWhatTheyWere) {
  Written copy, widened, there_and_back;
  copy.leaf(f16);
  EXPECT_EQ(to_text(jit::simplify(copy.record())), "%0 = leaf 0 float16\noutput %0\n");
  widened.leaf(u8).cast(i32).cast(f32);
  EXPECT_EQ(to_text(jit::simplify(widened.record())), "%0 = leaf 0 uint8\n%1 = cast(%0) float32\noutput %1\n");
  there_and_back.leaf(bf16).cast(f32).cast(bf16);
  EXPECT_EQ(to_text(jit::simplify(there_and_back.record())), "%0 = leaf 0 bfloat16\noutput %0\n");
}

TEST(ComputeDtypes, WhatIsStoredAlreadyIsNotConvertedBack) {
  Written p;
  p.leaf(f16).leaf(f16, 0).op(Op::neg).leaf(i8).leaf(i8, 2).op(Op::neg);
  p.outputs = 4;
  const Graph g = jit::lower(p.record());
  EXPECT_EQ(g[g.outputs()[0]].op, Op::leaf) << to_text(g);
  EXPECT_EQ(g[g.outputs()[2]].op, Op::leaf) << to_text(g);
}

TEST(ComputeDtypes, ExecutorsMeetOnlyWhatTheyHave) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Graph recorded = random_program(random, 60).record();
    for (const Graph& g : {jit::lower(recorded), jit::simplify(recorded)})
      for (const Node& n : g.nodes())
        for (const Operand o : g.operands(n)) {
          if (n.op != Op::cast)
            ASSERT_FALSE(is_stored_only(g[o].dtype) || is_stored_only(n.dtype)) << to_text(g);
          else
            ASSERT_TRUE(jit::has_conversion(g[o].dtype, n.dtype)) << to_text(g);
        }
  }
}

TEST(ComputeDtypes, GraphsGrowByConversionsAlone) {
  Written floats, integers;
  floats.leaf(f16);
  integers.leaf(i8);
  for (int i = 0; i < 100'000; ++i) {
    floats.op(i % 2 ? Op::neg : Op::abs);
    integers.op(i % 2 ? Op::neg : Op::abs);  // abs looks at the sign
  }
  EXPECT_LT(jit::lower(floats.record()).nodes().size(), 100'010u);
  EXPECT_LT(jit::lower(integers.record()).nodes().size(), 200'010u);
}

}  // namespace
}  // namespace sinter::testing
