// jit::simplify: what it does to small programs, and that it changes no value of random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include <jit/passes/lower.hpp>
#include <jit/plan/faults.hpp>
#include "golden.hpp"
#include "programs.hpp"

namespace sinter::testing {
namespace {

/// Contracting to fma changes roundings, so comparisons bit for bit leave it out.
class WithoutFma {
 public:
  WithoutFma() { setenv("SINTER_FMA", "off", 1); }
  ~WithoutFma() { unsetenv("SINTER_FMA"); }
};

std::string simplified(const Written& p) { return to_text(jit::simplify(p.record())); }

/// x op constant, x a leaf of dtype t.
Written with_constant(DType t, Op op, double value, bool constant_first = false) {
  Written p;
  if (!constant_first) p.leaf(t);
  p.constant(t, converted_bits(to_bits(value), f64, t));
  if (constant_first) p.leaf(t);
  return p.op(op), p;
}

TEST(Simplify, CommonSubexpressionsOnce) {
  Written p;  // (x + y) * (y + x) + sqrt(x + y), and sin(x) twice
  p.leaf(f32).leaf(f32).op(Op::add).leaf(f32, 1).leaf(f32, 0).op(Op::add).op(Op::maximum);
  p.leaf(f32, 0).leaf(f32, 1).op(Op::add).op(Op::sqrt).op(Op::add);
  p.leaf(f32, 0).op(Op::sin).leaf(f32, 0).op(Op::sin);
  p.outputs = 3;
  const Graph g = jit::simplify(p.record());
  EXPECT_EQ(operations(g), 4u) << to_text(g);  // add, sqrt, add, sin; the maximum of equal values is gone
  EXPECT_EQ(g.outputs()[1], g.outputs()[2]);
}

TEST(Simplify, LongRepetitionCollapses) {
  Written p;  // y = y * y + y, thirty times: a tree of 2^30 leaves, a graph of 60 operations
  p.leaf(f32);
  for (int i = 0; i < 30; ++i) {
    p.byte(jit::Code::bind);
    for (int k = 0; k < 3; ++k) {
      p.byte(jit::Code::reference).byte(i);
      if (k == 1) p.op(Op::mul);
    }
    p.op(Op::add);
  }
  for (int i = 0; i < 30; ++i) p.byte(jit::Code::unbind);
  EXPECT_EQ(operations(jit::simplify(p.record())), 30u);  // each an fma
}

TEST(Simplify, ExactIdentities) {
  const auto gone = [](DType t, Op op, double value, bool first = false) {
    return simplified(with_constant(t, op, value, first)) == "%0 = leaf 0 " + std::string(name(t)) + "\noutput %0\n";
  };
  for (DType t : {i32, DType::Int64, f32, f64}) {
    EXPECT_TRUE(gone(t, Op::mul, 1)) << name(t);
    EXPECT_TRUE(gone(t, Op::mul, 1, true)) << name(t);
    EXPECT_TRUE(gone(t, Op::sub, 0)) << name(t);
    EXPECT_TRUE(gone(t, Op::pow, 1)) << name(t);
  }
  EXPECT_TRUE(gone(f32, Op::div, 1));
  EXPECT_TRUE(gone(i32, Op::add, 0));
  EXPECT_TRUE(gone(f32, Op::add, -0.0));
  EXPECT_TRUE(gone(f32, Op::add, -0.0, true));
  EXPECT_TRUE(gone(i32, Op::floor_divide, 1));
  // -0 + 0 is 0, -0 - -0 is 0, inf * 0 is NaN: these stay.
  EXPECT_FALSE(gone(f32, Op::add, 0));
  EXPECT_FALSE(gone(f32, Op::sub, -0.0));
  EXPECT_NE(simplified(with_constant(f32, Op::mul, 0)).find("mul"), std::string::npos);
  EXPECT_NE(simplified(with_constant(f32, Op::sub, 0, true)).find("sub"), std::string::npos);
  EXPECT_EQ(simplified(with_constant(i32, Op::mul, 0)), "%0 = constant 0 int32\noutput %0\n");
}

TEST(Simplify, Powers) {
  EXPECT_EQ(simplified(with_constant(f32, Op::pow, 2)), "%0 = leaf 0 float32\n%1 = mul(%0, %0) float32\noutput %1\n");
  EXPECT_EQ(simplified(with_constant(i32, Op::pow, 3)),
            "%0 = leaf 0 int32\n%1 = mul(%0, %0) int32\n%2 = mul(%1, %0) int32\noutput %2\n");
  EXPECT_EQ(simplified(with_constant(f32, Op::pow, -1)),
            "%0 = leaf 0 float32\n%1 = reciprocal(%0) float32\noutput %1\n");
  EXPECT_EQ(simplified(with_constant(f32, Op::pow, 0)), "%0 = constant 1 float32\noutput %0\n");
  // pow(-inf, 0.5) is inf and sqrt(-inf) NaN; an integer has no reciprocal.
  EXPECT_NE(simplified(with_constant(f32, Op::pow, 0.5)).find("pow"), std::string::npos);
  EXPECT_NE(simplified(with_constant(i32, Op::pow, -1)).find("pow"), std::string::npos);
}

TEST(Simplify, DivisionByPowersOfTwo) {
  EXPECT_EQ(simplified(with_constant(f32, Op::div, -8)),
            "%0 = leaf 0 float32\n%1 = constant -0.125 float32\n%2 = mul(%0, %1) float32\noutput %2\n");
  EXPECT_NE(simplified(with_constant(f32, Op::div, 3)).find("div"), std::string::npos);
  EXPECT_NE(simplified(with_constant(f32, Op::div, 0)).find("div"), std::string::npos);
  EXPECT_NE(simplified(with_constant(f64, Op::div, 0x1p-1070)).find("div"), std::string::npos);
  EXPECT_NE(simplified(with_constant(f32, Op::div, std::numeric_limits<double>::infinity())).find("div"),
            std::string::npos);
}

TEST(Simplify, CastsThatLoseNothing) {
  const auto chain = [](DType from, DType middle, DType to) {
    Written p;
    p.leaf(from).cast(middle).cast(to);
    return operations(jit::simplify(p.record()));
  };
  EXPECT_EQ(chain(f32, f64, f32), 0u);
  EXPECT_EQ(chain(i32, f64, f32), 1u);
  EXPECT_EQ(chain(DType::Bool, f32, i32), 1u);
  EXPECT_EQ(chain(DType::Int16, DType::Int64, f32), 1u);
  EXPECT_EQ(chain(DType::UInt8, f64, DType::Int64), 1u);
  EXPECT_EQ(chain(f32, f32, f32), 0u);
  EXPECT_EQ(chain(f64, f32, f64), 2u);  // rounds
  EXPECT_EQ(chain(i32, f32, f64), 2u);  // rounds
  EXPECT_EQ(chain(f32, i32, f32), 2u);  // truncates
  EXPECT_EQ(chain(DType::Int64, f64, DType::Int64), 2u);
}

/// Elements of a dtype: all of one or two bytes, else random bits.
std::vector<test::Bits> elements_of(DType dtype) {
  const int bits = 8 * static_cast<int>(size_of(dtype));
  std::vector<test::Bits> all;
  if (dtype == DType::Bool) return {0, 1};
  std::mt19937_64 random(17);
  for (test::Bits i = 0; i < (bits == 8 ? 1u << 8 : 1u << 16); ++i)
    all.push_back(bits <= 16 ? i
                             : random() >> (64 - bits) >> (i % 2 == 0 ? random() % static_cast<unsigned>(bits) : 0));
  return all;
}

// Every chain of two casts that is shortened gives what both would.
TEST(Simplify, NoCastThatChangesAnElementIsLeftOut) {
  int shortened = 0;
  for (int i = 0; i < real_dtype_count * real_dtype_count * real_dtype_count; ++i) {
    const auto from = static_cast<DType>(i % real_dtype_count),
               to = static_cast<DType>(i / real_dtype_count % real_dtype_count),
               middle = static_cast<DType>(i / real_dtype_count / real_dtype_count);
    Written p;
    p.leaf(from).cast(middle).cast(to);
    if (operations(jit::simplify(p.record())) > (from == to ? 0u : 1u)) continue;
    ++shortened;
    for (const test::Bits element : elements_of(from)) {
      const test::Bits both = converted_bits(converted_bits(element, from, middle), middle, to);
      const test::Bits once = from == to ? element : converted_bits(element, from, to);
      const bool nan = category(to) == Category::Float && std::isnan(test::as<double>(converted_bits(once, to, f64)));
      ASSERT_TRUE(both == once || (nan && std::isnan(test::as<double>(converted_bits(both, to, f64)))))
          << name(from) << " to " << name(middle) << " to " << name(to) << ": " << test::show(from, element);
    }
  }
  EXPECT_GT(shortened, 150);
}

TEST(Simplify, LogicAndChoice) {
  Written p;  // where(!!(a & true), x, x * 0 + y) with the condition's negations gone
  p.leaf(DType::Bool).constant(DType::Bool, 1).op(Op::bitwise_and).op(Op::logical_not);
  p.leaf(f32).leaf(f32).op(Op::where);
  EXPECT_EQ(simplified(p),
            "%0 = leaf 0 bool\n%1 = leaf 1 float32\n%2 = leaf 2 float32\n%3 = where(%0, %2, %1) float32\noutput %3\n");
  Written q;
  q.leaf(f32).leaf(f32).op(Op::eq).op(Op::logical_not);
  EXPECT_NE(simplified(q).find("ne(%0, %1)"), std::string::npos);
  Written r;  // not (x < y) is no x >= y when one is NaN
  r.leaf(f32).leaf(f32).op(Op::lt).op(Op::logical_not);
  EXPECT_NE(simplified(r).find("logical_not"), std::string::npos);
  Written s;
  s.constant(DType::Bool, 1).leaf(f32).leaf(f32).op(Op::where);
  EXPECT_EQ(simplified(s), "%0 = leaf 0 float32\noutput %0\n");
}

TEST(Simplify, ConstantsFold) {
  Written p;
  p.leaf(f64).constant(2).constant(3).op(Op::mul).op(Op::maximum);
  EXPECT_EQ(simplified(p), "%0 = leaf 0 float64\n%1 = constant 6 float64\n%2 = maximum(%0, %1) float64\noutput %2\n");
}

TEST(Simplify, AQuotientByZeroIsLeftToBeRefused) {
  for (const Op op : {Op::floor_divide, Op::trunc_divide, Op::remainder, Op::fmod}) {
    const auto quotient = [&](DType t, double y) {
      Written p;
      p.constant(t, converted_bits(to_bits(7.), f64, t)).constant(t, converted_bits(to_bits(y), f64, t)).op(op);
      return operations(jit::simplify(p.record()));
    };
    EXPECT_EQ(quotient(i64, 0), 1u) << name(op);
    EXPECT_EQ(quotient(i64, 2), 0u) << name(op);
    EXPECT_EQ(quotient(f32, 0), 0u) << name(op);  // infinity or NaN
  }
}

TEST(Simplify, ContractsProductsThatNobodyElseReads) {
  const auto fmas = [](const Written& p) {
    const Graph g = jit::simplify(p.record());
    return std::pair(std::ranges::count(g.nodes(), Op::fma, &Node::op), operations(g));
  };
  const auto product = [](Op op, bool left) {
    Written p;
    if (!left) p.leaf(f32);
    p.leaf(f32).leaf(f32).op(Op::mul);
    if (left) p.leaf(f32);
    return p.op(op), p;
  };
  EXPECT_EQ(fmas(product(Op::add, true)), std::pair(1l, 1ul));
  EXPECT_EQ(fmas(product(Op::add, false)), std::pair(1l, 1ul));
  EXPECT_EQ(fmas(product(Op::sub, true)), std::pair(1l, 2ul));  // with a neg, which is exact
  EXPECT_EQ(fmas(product(Op::sub, false)), std::pair(1l, 2ul));

  Written constant, negated;  // z - x * 2 and z - x * -y: what is negated vanishes
  constant.leaf(f32).leaf(f32).constant(2).op(Op::mul).op(Op::sub);
  negated.leaf(f32).leaf(f32).leaf(f32).op(Op::neg).op(Op::mul).op(Op::sub);
  EXPECT_EQ(fmas(constant), std::pair(1l, 1ul));
  EXPECT_EQ(fmas(negated), std::pair(1l, 1ul));

  Written both;  // a*a - b*b: one of the two, always the first
  both.leaf(f32).leaf(f32, 0).op(Op::mul).leaf(f32).leaf(f32, 2).op(Op::mul).op(Op::sub);
  EXPECT_EQ(simplified(both),
            "%0 = leaf 0 float32\n%1 = leaf 2 float32\n%2 = mul(%1, %1) float32\n%3 = neg(%2) float32\n"
            "%4 = fma(%0, %0, %3) float32\noutput %4\n");

  Written twice = product(Op::add, true);  // the product is an output too
  twice.leaf(f32, 0).leaf(f32, 1).op(Op::mul);
  twice.outputs = 2;
  EXPECT_EQ(fmas(twice).first, 0);

  Written same;  // x*y - x*y is exactly 0 for finite products
  same.leaf(f32).leaf(f32).op(Op::mul).leaf(f32, 0).leaf(f32, 1).op(Op::mul).op(Op::sub);
  EXPECT_EQ(fmas(same).first, 0);

  Written across;  // an explicit cast rounds
  across.leaf(f64).leaf(f64).op(Op::mul).cast(f32).leaf(f32).op(Op::add);
  EXPECT_EQ(fmas(across).first, 0);

  Written integers;
  integers.leaf(i32).leaf(i32).op(Op::mul).leaf(i32).op(Op::add);
  EXPECT_EQ(fmas(integers).first, 0);

  WithoutFma off;
  EXPECT_EQ(fmas(product(Op::add, true)).first, 0);
}

void expect_same_values(const Written& p, const Graph& before, const Graph& after, std::mt19937_64& random) {
  for (int sample = 0; sample < 20; ++sample) {
    const auto leaves = p.leaf_values(random), scalars = p.scalar_values(random);
    const auto expected = outputs_of(before, leaves, scalars), got = outputs_of(after, leaves, scalars);
    ASSERT_EQ(expected.size(), got.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_TRUE(same_value(before[before.outputs()[i]].dtype, expected[i], got[i]))
          << std::hex << expected[i] << " became " << got[i] << "\n"
          << to_text(before) << "\n"
          << to_text(after);
  }
}

/// What is left of `op` of the leaf x and a constant, x or y, as one line; empty where the operation is.
std::string what_is_left(const Written& p, const Graph& after) {
  if (operations(after) > 0 && to_text(after) == to_text(jit::lower(p.record()))) return {};
  std::string line = to_text(after);
  for (std::size_t at = 0; (at = line.find('\n', at)) != line.npos;) line.replace(at, 1, "; ");
  return line;
}

TEST(Simplify, IdentitiesOfEveryOperationWithNumbersAndWithItself) {
  constexpr Op of_two[] = {Op::add,          Op::sub,          Op::mul,         Op::div,        Op::pow,
                           Op::floor_divide, Op::trunc_divide, Op::remainder,   Op::fmod,       Op::maximum,
                           Op::minimum,      Op::fmax,         Op::fmin,        Op::eq,         Op::ne,
                           Op::lt,           Op::le,           Op::gt,          Op::ge,         Op::logical_and,
                           Op::logical_or,   Op::logical_xor,  Op::bitwise_and, Op::bitwise_or, Op::bitwise_xor};
  WithoutFma off;
  std::mt19937_64 random(1);
  std::string table;
  const auto check = [&](const std::string& what, const Written& p) {
    try {
      const Graph before = p.record(), after = jit::simplify(before);
      if (const std::string left = what_is_left(p, after); !left.empty()) table += what + ": " + left + "\n";
      if (what.find("pow") == what.npos) expect_same_values(p, before, after, random);
    } catch (const sinter::Error&) {  // not of this dtype
    }
  };
  for (const Op op : of_two)
    for (const DType t : {DType::Bool, i32, i64, f32, f64}) {
      const std::string title = fmt::format("{} {}", name(op), name(t));
      for (const double value : {-8., -3., -2., -1., -0., 0., 0.5, 1., 2., 3., 4., 8.}) {
        if (category(t) != Category::Float && (std::trunc(value) != value || (value == 0 && std::signbit(value))))
          continue;
        if (t == DType::Bool && value != 0 && value != 1) continue;
        if (category(t) == Category::Int && value == 0 && has(op, jit::FaultsOnZeroDivisor)) continue;  // an error
        check(fmt::format("{} x, {}", title, value), with_constant(t, op, value));
        check(fmt::format("{} {}, x", title, value), with_constant(t, op, value, true));
      }
      Written twice, two;
      twice.leaf(t).leaf(t, 0).op(op);
      two.leaf(t).leaf(t).op(op);
      check(title + " x, x", twice);
      check(title + " x, y", two);
    }
  constexpr Op of_one[] = {Op::neg,   Op::logical_not, Op::bitwise_not, Op::abs,   Op::relu,   Op::floor,   Op::ceil,
                           Op::trunc, Op::round,       Op::isnan,       Op::isinf, Op::square, Op::isfinite};
  for (const DType t : {DType::Bool, i32, f32})
    for (const Op outer : of_one) {
      for (const Op inner : of_one) {
        Written p;
        p.leaf(t).op(inner).op(outer);
        check(fmt::format("{} {}({} x)", name(outer), name(inner), name(t)), p);
      }
      for (const Op inner : {Op::eq, Op::ne, Op::lt, Op::le, Op::gt, Op::ge, Op::add, Op::sub, Op::mul, Op::div}) {
        Written p;
        p.leaf(t).leaf(t).op(inner).op(outer);
        check(fmt::format("{} {}({} x, y)", name(outer), name(inner), name(t)), p);
      }
    }
  test::expect_golden("identities.txt", table);
}

TEST(Simplify, RandomProgramsKeepTheirValuesBitForBit) {
  WithoutFma off;
  std::size_t before_total = 0, after_total = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const Written p = random_program(random, 10 + static_cast<int>(seed % 90));
    const Graph before = p.record(), after = jit::simplify(before);
    const std::size_t lowered = operations(jit::lower(before));
    before_total += lowered;
    after_total += operations(after);
    ASSERT_LE(operations(after), lowered + 5);
    for (std::size_t i = 0; i < after.outputs().size(); ++i)
      ASSERT_EQ(before[before.outputs()[i]].dtype, after[after.outputs()[i]].dtype);
    expect_same_values(p, before, after, random);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_LT(after_total, before_total);
}

TEST(Simplify, ContractionIsExactWhereArithmeticIs) {
  // Sums of products of small integers, zeros of both signs, infinities and NaN: fma rounds nothing that they would.
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Written p;
    int depth = 0;
    for (int i = 0; i < 12; ++i) {
      p.leaf(f64, i > 3 ? static_cast<int>(random() % 4) : -1);
      ++depth;
      while (depth > 1 && random() % 2) {
        constexpr Op ops[] = {Op::add, Op::sub, Op::mul, Op::add};
        p.op(ops[random() % 4]);
        --depth;
        if (random() % 4 == 0) p.op(Op::neg);
      }
    }
    p.outputs = static_cast<std::uint16_t>(depth);
    const Graph before = p.record(), after = jit::simplify(before);
    using Limits = std::numeric_limits<double>;
    constexpr double values[] = {0, -0.0, 1, -1, 2, -3, 5, Limits::infinity(), Limits::quiet_NaN()};
    for (int sample = 0; sample < 20; ++sample) {
      std::vector<std::uint64_t> leaves(12);
      for (std::size_t i = 0; i < 12; ++i)
        leaves[i] = p.same_as[i] == i ? to_bits(values[random() % std::size(values)]) : leaves[p.same_as[i]];
      const auto expected = outputs_of(before, leaves, {}), got = outputs_of(after, leaves, {});
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_TRUE(same_value(f64, expected[i], got[i])) << to_text(before) << to_text(after);
    }
  }
}

TEST(Simplify, SimplifyingAgainChangesNothing) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    const Graph once = jit::simplify(random_program(random, 60).record());
    EXPECT_EQ(to_text(jit::simplify(once)), to_text(once)) << "seed " << seed;
  }
}

TEST(Simplify, HundredThousandNodesInAChain) {
  Graph g;
  const Operand x = g.leaf(f32, 0);
  Operand y = g.leaf(f32, 1);
  for (int i = 0; i < 100'000; ++i) {
    const Operand operands[] = {y, x};
    y = g.apply(i % 2 ? Op::mul : Op::maximum, operands);
  }
  g.output(y);
  const Graph s = jit::simplify(g);
  EXPECT_EQ(s.nodes().size(), 100'002u);
}

}  // namespace
}  // namespace sinter::testing
