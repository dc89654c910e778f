// What the passes of a kernel that reduces compute, keep and recompute on the CPU.
#include <jit/cpu/row_parts.hpp>

#include <gtest/gtest.h>

#include "cpu_row_checks.hpp"

namespace sinter::test {
namespace {

/// Three passes read the same value, which no reduction reads itself: it is kept if it takes longer to compute, unless
/// rows are split.
TEST(CpuRowParts, CostlyValuesAreKeptBetweenPasses) {
  std::minstd_rand random(seed_of_tests());
  for (const Op op : {Op::tanh, Op::neg})
    for (const auto& [rows, columns] : {std::pair(1, 1), {7, 40}, {9, 1000}, {2, 200'000}})
      for (const bool across : {false, true}) {
        RowCase c(across ? Extents{columns, rows} : Extents{rows, columns}, {across, !across});
        const Operand x = c.leaf(DType::Float32), y = c.op(op, {x}), kept = c.op(Op::add, {y, x});
        const Operand most = c.op(Op::amax, {c.op(Op::mul, {kept, x})});
        const Operand sum = c.op(Op::sum, {c.op(Op::mul, {c.op(Op::sub, {kept, most}), x})});
        c.output(c.op(Op::add, {kept, sum}), AxisMapping::Domain);
        c.output(c.op(Op::mul, {y, sum}), AxisMapping::Domain, 0);
        fill_small(c.leaves[0], random);
        EXPECT_EQ(jit::cpu::RowParts(c.kernel, jit::cpu::Keeps::InBoxes).kept_bytes, op == Op::tanh ? 4 : 0);
        check(c, fmt::format("{} of {} by {}, kept", name(op), rows, columns), 2e-3);
      }
}

/// More passes than a word has bits, each of which reads what the one before computed.
TEST(CpuRowParts, ManyPasses) {
  std::minstd_rand random(seed_of_tests());
  for (const auto& [rows, columns] : {std::pair(3, 40), {1, 100'000}}) {
    RowCase c(Extents{rows, columns}, {false, true});
    const Operand x = c.leaf(DType::Float32);
    Operand y = c.op(Op::tanh, {x});
    for (int pass = 0; pass < 70; ++pass)
      y = c.op(Op::tanh, {c.op(Op::sub, {y, c.op(Op::amax, {c.op(Op::mul, {y, x})})})});
    c.output(y, AxisMapping::Domain);
    fill_small(c.leaves[0], random);
    check(c, fmt::format("{} of {} by {}", 70, rows, columns), 1e-3);
  }
}

/// The nest's operands whose next elements a stage's pass prefetches.
std::vector<std::uint32_t> prefetched(const jit::cpu::RowParts& parts, std::size_t stage) {
  std::vector<std::uint32_t> operands;
  if (!parts.stages[stage].pass) return operands;
  for (const jit::cpu::OperandSource& o : parts.stages[stage].pass->prefetched) operands.push_back(o.number);
  return operands;
}

/// The first pass after the one that reads memory, and only what differs from row to row and within a row.
TEST(CpuRowParts, PrefetchWhatTheNextRowsRead) {
  RowCase c(Extents{9, 1000}, {false, true});
  const Operand x = c.leaf(DType::Float32), p = c.leaf(DType::Float32, AxisMapping::Kept), y = c.leaf(DType::Float32);
  const Operand d = c.op(Op::sub, {x, c.op(Op::amax, {x})});
  const Operand sum = c.op(Op::sum, {c.op(Op::mul, {d, p})});
  c.output(c.op(Op::mul, {c.op(Op::add, {d, sum}), y}), AxisMapping::Domain);
  const jit::cpu::RowParts parts(c.kernel, jit::cpu::Keeps::InBoxes);
  ASSERT_EQ(parts.stages.size(), 3u);
  EXPECT_EQ(prefetched(parts, 0), std::vector<std::uint32_t>{});
  EXPECT_EQ(prefetched(parts, 1), std::vector<std::uint32_t>{1}) << "x";
  EXPECT_EQ(prefetched(parts, 2), std::vector<std::uint32_t>{3}) << "y, which no pass has read before";
}

/// How many of a stage's reductions its pass does, if it is compiled.
TEST(CpuRowParts, PassesReduceWhatTheyCompute) {
  const auto states = [](Op first, Op second, DType dtype) {
    RowCase c(Extents{9, 1000}, {false, true});
    const Operand x = c.leaf(dtype), y = c.op(Op::mul, {x, x});
    c.output(c.op(first, {y}), AxisMapping::Kept);
    c.output(c.op(second, {c.op(Op::neg, {x})}), AxisMapping::Kept);
    c.output(c.op(Op::amax, {x}), AxisMapping::Kept);  // of elements in memory
    return jit::cpu::RowParts(c.kernel, jit::cpu::Keeps::InBoxes).stages[0].pass->states.size();
  };
  EXPECT_EQ(states(Op::sum, Op::amin, DType::Float32), 2u);
  EXPECT_EQ(states(Op::prod, Op::argmax, DType::Float32), 1u);
  EXPECT_EQ(states(Op::sum, Op::amin, DType::Float64), 0u);
}

}  // namespace
}  // namespace sinter::test
