// Programs with one instruction damaged: the verifier refuses them, or the interpreter stops them, or they run to their
// end; nothing reads or writes where it must not.
#include <jit/loops/verify.hpp>

#include <gtest/gtest.h>

#include "cpu_row_kernels.hpp"
#include "loops_launch.hpp"
#include "row_kernels.hpp"

namespace sinter::testing {
namespace {

using namespace jit::loops;
using test::Array;

constexpr std::int64_t rows = 3, columns = 300;

/// A kernel over the matrix x, its operands and results.
struct Subject {
  test::RowCase rows_case{{rows, columns}, {false, true}};
  std::vector<std::byte> results;

  explicit Subject(bool is_softmax) {
    const auto x = rows_case.leaf(DType::Float32);
    const auto most = rows_case.op(Op::amax, {x});
    const auto e = rows_case.op(Op::exp, {rows_case.op(Op::sub, {x, most})});
    const auto sum = rows_case.op(Op::sum, {e});
    if (is_softmax) rows_case.output(rows_case.op(Op::div, {e, sum}), AxisMapping::Domain);
    if (!is_softmax)
      rows_case.output(sum, AxisMapping::Rows), rows_case.output(rows_case.op(Op::argmin, {x}), AxisMapping::Rows);
    rows_case.kernel.name = "rows";
    rows_case.kernel.inputs = {{jit::Slot::Kind::Leaf, 0}};
    for (std::int64_t i = 0; i < rows * columns; ++i)
      test::write(DType::Float32, rows_case.leaves[0].memory.data() + 4 * i, test::to_bits(static_cast<float>(i % 7)));
  }

  void run(const LoopProgram& program, const jit::KernelClass& c) {
    LoopsMemory memory;
    const auto bytes = [](const Array& a) { return static_cast<std::size_t>(a.extent) * size_of(a.dtype); };
    memory.add(rows_case.leaves[0].memory.data(), bytes(rows_case.leaves[0]));
    for (const Array& a : rows_case.outputs) {
      std::memset(a.memory.data(), 0, bytes(a));
      memory.add(a.memory.data(), bytes(a), LoopsMemory::Content::Unwritten);
    }
    const jit::LoopNest nest = rows_case.nest();
    LoopsLauncher(LoopsLaunch{rows_case.kernel, nest, c}, memory).run(program, 1'000'000);
    results.clear();
    for (const Array& a : rows_case.outputs) results.insert(results.end(), a.memory.data(), a.memory.data() + bytes(a));
  }
};

void damage(LoopProgram& program, std::mt19937_64& random) {
  Instruction& i = program.code[random() % program.code.size()];
  switch (random() % 7) {
    case 0: i.code = static_cast<Opcode>(random() % (static_cast<unsigned>(Opcode::ReportFault) + 1)); break;
    case 1: i.type.width = 1 << random() % 4; break;
    case 2: i.type.kind = static_cast<Kind>(random() % (static_cast<unsigned>(Kind::Padding) + 1)); break;
    case 3: i.type.dtype = static_cast<DType>(random() % 12); break;
    case 4: i.attribute = random() % 2 ? random() % 5 : i.attribute ^ (std::uint64_t{1} << random() % 64); break;
    case 5:
      program.code.erase(program.code.begin() + static_cast<std::ptrdiff_t>(random() % program.code.size()));
      break;
    default:
      if (!i.operands.empty())
        i.operands[random() % i.operands.size()] = static_cast<Value>(random() % program.code.size()) - 1;
  }
}

class LoopsDamage : public ::testing::TestWithParam<NamedOverride> {};

TEST_P(LoopsDamage, IsFoundOrDoesNoHarm) {
  const Overridden w(GetParam().chosen);
  std::mt19937_64 random(test::seed_of_tests());
  int refused = 0, stopped = 0, wrong = 0, unnoticed = 0;
  for (const bool is_softmax : {false, true}) {
    Subject subject(is_softmax);
    const jit::LoopNest nest = subject.rows_case.nest();
    const jit::KernelTraits traits(subject.rows_case.kernel);
    const jit::KernelClass c = class_of(subject.rows_case.kernel, nest);
    const LoopProgram whole = lower(subject.rows_case.kernel, traits, c);
    subject.run(whole, c);
    const std::vector<std::byte> expected = subject.results;
    for (int i = 0; i < 300; ++i) {
      LoopProgram damaged;
      do damage(damaged = whole, random);
      while (to_string(damaged) == to_string(whole));  // what was damaged meant nothing
      SCOPED_TRACE(::testing::Message() << "seed " << test::seed_of_tests() << ", damage " << i);
      if (!verify(damaged).empty()) {
        ++refused;
        continue;
      }
      try {
        subject.run(damaged, c);
        ++(subject.results == expected ? unnoticed : wrong);
      } catch (const std::exception&) {  // the reference of operations refuses dtypes, too
        ++stopped;
      }
    }
  }
  RecordProperty("refused", refused), RecordProperty("stopped", stopped);
  RecordProperty("wrong", wrong), RecordProperty("unnoticed", unnoticed);
  EXPECT_GT(refused + stopped + wrong, 2 * unnoticed)
      << refused << " refused, " << stopped << " stopped, " << wrong << " wrong, " << unnoticed << " unnoticed";
}

INSTANTIATE_TEST_SUITE_P(Schemes, LoopsDamage, ::testing::ValuesIn(overrides),
                         [](const auto& i) { return i.param.name; });

}  // namespace
}  // namespace sinter::testing
