#include <jit/passes/complex_parts.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <random>

#include <jit/passes/lower.hpp>
#include <sinter/runtime/error.hpp>
#include "programs.hpp"

namespace sinter::testing {
namespace {

Operand apply(Graph& g, Op op, std::initializer_list<Operand> operands) {
  return g.apply(op, {operands.begin(), operands.size()});
}

/// Complex numbers are only in leaves and outputs.
void expect_parts(const Graph& g) {
  std::vector<bool> is_output(g.nodes().size());
  for (const Operand o : g.outputs()) is_output[static_cast<std::size_t>(o.node)] = true;
  for (std::size_t i = 0; i < g.nodes().size(); ++i) {
    const Node& n = g.nodes()[i];
    if (is_complex(n.dtype)) {
      EXPECT_TRUE(n.op == Op::leaf || (n.op == Op::complex && is_output[i])) << name(n.op);
    }
    for (const Operand o : g.operands(n))
      if (is_complex(g[o].dtype)) {
        EXPECT_TRUE(n.op == Op::real || n.op == Op::imag) << name(n.op);
        EXPECT_EQ(g[o].op, Op::leaf);
        EXPECT_EQ(n.dtype, real_of(g[o].dtype));
      }
  }
}

TEST(ComplexParts, ReplaceEveryOperationThatTakesComplexNumbers) {
  for (const DType t : {c64, c128})
    for (int i = static_cast<int>(first_table_op); i < op_count; ++i) {
      const Op op = static_cast<Op>(i);
      std::vector<OperandType> types(info(op).arity, OperandType{t});
      if (op == Op::where) types[0] = {DType::Bool};
      const OpTypes rule = op_types(op, types);
      EXPECT_EQ(rule.ok, takes_complex(op) || info(op).rule == DTypeRule::Logical) << name(op);
      Graph g;
      std::vector<Operand> leaves;
      for (std::uint32_t k = 0; k < types.size(); ++k) leaves.push_back(g.leaf(types[k].dtype, k));
      if (!rule.ok) {
        EXPECT_THROW(g.apply(op, leaves), DTypeError) << name(op);
        continue;
      }
      SCOPED_TRACE(name(op));
      g.output(g.apply(op, leaves));
      EXPECT_EQ(g[g.outputs()[0]].dtype, rule.result);
      EXPECT_EQ(is_complex(rule.result), !gives_real(op) && info(op).rule != DTypeRule::Compare &&
                                             info(op).rule != DTypeRule::FloatCompare &&
                                             info(op).rule != DTypeRule::Logical);
      for (const Graph& lowered : {jit::lower_complex(g), jit::lower(g), jit::simplify(g)}) {
        expect_parts(lowered);
        EXPECT_EQ(lowered[lowered.outputs()[0]].dtype, rule.result);
      }
    }
}

TEST(ComplexParts, LeaveOtherGraphsAsTheyAre) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const Graph g = random_program(random, 60).record();
    ASSERT_EQ(jit::lower_complex(g), g) << "seed " << seed;
  }
}

TEST(ComplexParts, AreNotTakenFromWhatIsOnlyCopied) {
  Graph g;
  const Operand z = g.leaf(c64, 0);
  g.output(z);
  g.output(apply(g, Op::positive, {z}));
  const Graph parts = jit::simplify(g);
  ASSERT_EQ(parts.nodes().size(), 1u);
  EXPECT_EQ(parts.outputs()[0], parts.outputs()[1]);
}

TEST(ComplexParts, OfRealNumbersAreTheNumbers) {
  Graph g;
  const Operand x = g.leaf(f32, 0);
  g.output(apply(g, Op::real, {x}));
  g.output(apply(g, Op::conj, {x}));
  const Graph parts = jit::simplify(g);
  ASSERT_EQ(parts.nodes().size(), 1u);
  EXPECT_THROW(apply(g, Op::imag, {x}), DTypeError);
}

TEST(ComplexParts, OfARealFactorAreLeftOut) {
  Graph g;
  g.output(apply(g, Op::mul, {g.leaf(c64, 0), g.leaf(f32, 1)}));
  const Graph parts = jit::simplify(g);
  int products = 0;
  for (const Node& n : parts.nodes()) products += n.op == Op::mul || n.op == Op::fma;
  EXPECT_EQ(products, 2);  // of four
}

TEST(ComplexParts, OfNumbersOfCppAreAsWideAsWhatTheyMeet) {
  for (const DType t : {f32, f64, c64, c128}) {
    Graph g;
    const Operand i = apply(g, Op::complex, {g.scalar(f32, Category::Float, 0), g.scalar(f32, Category::Float, 1)});
    EXPECT_EQ(g[i].dtype, c64);
    const Operand product = apply(g, Op::mul, {g.leaf(t, 0), i});
    EXPECT_EQ(g[product].dtype, complex_of(t));
    g.output(product);
    const Graph parts = jit::simplify(g);
    for (const Node& n : parts.nodes())
      if (n.op == Op::scalar) {
        EXPECT_EQ(n.dtype, real_of(t));  // not float32 first, which would round
      }
  }
}

TEST(ComplexParts, ConversionsKeepBothPartsOrAreRefused) {
  Graph g;
  const Operand z = g.leaf(c64, 0), h = g.leaf(DType::Float16, 1);
  g.output(g.explicit_cast(z, c128));
  g.output(g.explicit_cast(z, DType::Bool));
  g.output(g.explicit_cast(h, c64));
  expect_parts(jit::simplify(g));
  for (const DType t : {DType::Int32, DType::Float16, f32, f64}) {
    try {
      g.explicit_cast(z, t);
      ADD_FAILURE() << name(t);
    } catch (const DTypeError& e) {
      EXPECT_NE(std::string(e.what()).find("take real(z)"), std::string::npos) << e.what();
    }
  }
}

TEST(ComplexParts, ErrorsNameTheWayOut) {
  Graph g;
  const Operand z = g.leaf(c64, 0);
  try {
    apply(g, Op::lt, {z, z});
    ADD_FAILURE();
  } catch (const DTypeError& e) {
    EXPECT_STREQ(e.what(),
                 "lt(complex64, complex64): lt takes real numbers, not complex ones: take real(z), imag(z), abs(z) or "
                 "angle(z) first");
  }
}

TEST(ComplexParts, ConstantsAreReal) {
  Written p;
  p.constant(c64, 0);
  EXPECT_THROW(p.record(), Error);
}

}  // namespace
}  // namespace sinter::testing
