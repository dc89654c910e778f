// What the verifier of the loop IR refuses: for each of its rules a program that breaks it, and no other.
#include <jit/loops/verify.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include <jit/loops/builder.hpp>
#include <sinter/jit/device_function.hpp>

namespace sinter::testing {
namespace {

using namespace jit::loops;
using ::testing::HasSubstr;

constexpr DType f32 = DType::Float32;
constexpr Type index = index_type(Kind::Index), value = element_type(f32);

/// What programs are made of.
struct Program {
  LoopProgram program{.name = "example", .code = {}};
  Builder b{program};
  Value y = b.param("y0", pointer_type(f32)), x = b.param("x0", pointer_type(f32));
  Value count = b.param("count", index), fault = b.param("fault", index_type(Kind::FaultWord));
  Value thread = b.builtin(Opcode::ThreadIdx), position = b.convert(thread, Kind::Index),
        offset = b.convert(thread, Kind::Offset);
  Value one = b.constant(f32, 0x3f800000), zero = b.integer(Kind::Index, 0), whole = b.constant(DType::Int32, 1);
  Value inside = b.less(position, count), always = b.less(zero, count);

  Value load(int width = 1, Access access = Access::Unaligned) { return b.load(x, position, width, access); }
  Value local(int values = 1, Value first = none) { return b.local(value, values, first, "a"); }
  /// As it stands, which Builder's functions may not allow.
  Value add(Instruction i) {
    program.code.push_back(std::move(i));
    return static_cast<Value>(program.code.size() - 1);
  }
  void within(Value condition, auto body) { b.emit_if(condition, body); }
};

std::uint64_t doubled() {
  return static_cast<std::uint64_t>(jit::define_function({"doubled", f32, {{"x", f32}}, "return 2 * x;", {}}));
}

struct Mistake {
  const char* name;
  const char* message;
  void (*make)(Program&);
  friend void PrintTo(const Mistake& m, std::ostream* out) { *out << m.name; }
};

const Mistake mistakes[]{
    // Operands
    {"OperandOfAnotherScope", "not visible here",
     [](Program& p) {
       Value inner = none;
       p.within(p.inside, [&] { inner = p.load(); });
       p.b.store(p.y, p.position, inner, Access::Unaligned);
     }},
    {"CounterAfterItsLoop", "not visible here",
     [](Program& p) {
       Value counter = none;
       p.b.emit_unrolled(4, "k", [&](Value k) { counter = k; });
       p.b.add(counter, p.count);
     }},
    {"FunctionWithAnotherNumberOfOperands", "number of operands",
     [](Program& p) { p.b.op(Op::call, f32, std::array{p.load(), p.one, p.one}, doubled()); }},
    {"FunctionOfAnotherDtype", "not the parameter's dtype",
     [](Program& p) { p.b.op(Op::call, f32, std::array{p.whole}, doubled()); }},
    {"FunctionWithAnotherResult", "not the function's dtype",
     [](Program& p) { p.b.op(Op::call, DType::Int32, std::array{p.one}, doubled()); }},
    {"OperandThatFollows", "not visible here", [](Program& p) { p.add({Opcode::Low, value, {}, 0, {1000}, {}}); }},
    {"OperandWithoutResult", "not visible here",
     [](Program& p) {
       p.b.barrier();
       p.add({Opcode::Splat, value, {}, 0, {static_cast<Value>(p.program.code.size() - 1)}, {}});
     }},
    {"MissingOperand", "an operand is missing",
     [](Program& p) { p.add({Opcode::Store, {}, {}, 0, {p.y, p.position, none, none, none}, {}}); }},
    {"TooFewOperands", "number of operands", [](Program& p) { p.add({Opcode::Add, index, {}, 0, {p.count}, {}}); }},
    {"LocalAsValue", "a local is not a value", [](Program& p) { p.b.op(Op::neg, f32, {p.local(1, p.one)}); }},
    // Kinds, dtypes, vector widths
    {"KindsAreMixed", "kinds differ", [](Program& p) { p.b.add(p.position, p.thread); }},
    {"KindsAreCompared", "kinds differ", [](Program& p) { p.b.less(p.position, p.offset); }},
    {"ElementsAreCompared", "kinds differ", [](Program& p) { p.b.less(p.one, p.one); }},
    {"ElementsAreAdded", "not an index", [](Program& p) { p.b.mul(p.one, p.load()); }},
    {"IndexAsElement", "not an element", [](Program& p) { p.b.op(Op::add, f32, {p.one, p.position}); }},
    {"DtypesAreMixed", "dtypes differ", [](Program& p) { p.b.op(Op::add, f32, {p.one, p.whole}); }},
    {"ConditionOfAnOperation", "dtypes differ", [](Program& p) { p.b.op(Op::where, f32, {p.one, p.one, p.one}); }},
    {"ArityOfAnOperation", "number of operands", [](Program& p) { p.b.op(Op::add, f32, {p.one}); }},
    {"NoOperation", "not an operation", [](Program& p) { p.b.op(Op::load, f32, {p.one, p.one}); }},
    {"ComplexElements", "parts of a complex number", [](Program& p) { p.b.cast(p.one, DType::Complex64); }},
    {"WidthsDiffer", "vector widths differ",
     [](Program& p) { p.b.op(Op::add, f32, {p.load(4, Access::AlignedIndexed), p.load(2, Access::AlignedIndexed)}); }},
    {"VectorOfThree", "vector width", [](Program& p) { p.load(3, Access::AlignedIndexed); }},
    {"ManyPointers", "vector width",
     [](Program& p) { p.add({Opcode::Advance, {Kind::Pointer, f32, 2}, {}, 0, {p.x, p.position}, {}}); }},
    {"ConstantOfTooManyBits", "than the dtype has", [](Program& p) { p.b.constant(DType::Int8, 256); }},
    {"IndexOfTooManyBits", "than the kind has", [](Program& p) { p.b.integer(Kind::Index, std::int64_t{1} << 32); }},
    {"ResultOfAnotherDtype", "the operation's dtype", [](Program& p) { p.b.op(Op::lt, f32, {p.one, p.one}); }},
    {"SelectOfTwoDtypes", "kinds differ", [](Program& p) { p.b.select(p.inside, p.one, p.whole); }},
    {"SelectByNumber", "not a Bool", [](Program& p) { p.b.select(p.one, p.one, p.one); }},
    {"AndOfNumbers", "kinds differ", [](Program& p) { p.b.and_guard(p.inside, p.one); }},
    {"RemainderOfAny", "not a power of two", [](Program& p) { p.b.rem_by(p.position, 12); }},
    {"DivisorOfAnotherKind", "kinds differ",
     [](Program& p) { p.b.div(p.position, p.b.param("d", index_type(Kind::FastDivisor64))); }},
    {"DivisionByZero", "kinds differ", [](Program& p) { p.b.div(p.position, p.zero); }},
    {"IndexAsFloat", "not an integer", [](Program& p) { p.b.element(p.position, f32); }},
    {"HalfOfAScalar", "not half", [](Program& p) { p.add({Opcode::Low, value, {}, 0, {p.one}, {}}); }},
    {"RampOfElements", "not an index and a step", [](Program& p) { p.b.ramp(p.one, p.one, 4); }},
    {"AlignedRampOfAnotherStep", "not aligned", [](Program& p) { p.b.ramp(p.position, p.count, 4, true); }},
    {"OpaqueElement", "not a u32", [](Program& p) { p.b.opaque(p.one); }},
    // Memory
    {"StoreOfAnotherDtype", "the pointer's dtype",
     [](Program& p) { p.b.store(p.y, p.position, p.whole, Access::Unaligned); }},
    {"StoreToInput", "writes an input", [](Program& p) { p.b.store(p.x, p.position, p.one, Access::Unaligned); }},
    {"StoreToInputsRow", "writes an input",
     [](Program& p) { p.b.store(p.b.advance(p.x, p.position), p.zero, p.one, Access::Unaligned); }},
    {"LoadFromOutput", "reads an output", [](Program& p) { p.b.load(p.y, p.position, 1, Access::Unaligned); }},
    {"LoadFromNumber", "the pointer's dtype", [](Program& p) { p.b.load(p.one, p.position, 1, Access::Unaligned); }},
    {"GatherAtIndex", "not a position", [](Program& p) { p.b.load(p.x, p.position, 1, Access::Gather); }},
    {"RunAtIndex", "not a position", [](Program& p) { p.b.load(p.x, p.position, 4, Access::Run); }},
    {"RunOfPositions", "for each element", [](Program& p) { p.b.load(p.x, p.b.splat(p.whole, 4), 4, Access::Run); }},
    {"LoadAtElement", "not a position", [](Program& p) { p.b.load(p.x, p.whole, 1, Access::Unaligned); }},
    {"LoadAtManyPositions", "for each element",
     [](Program& p) { p.b.load(p.x, p.b.ramp(p.position, p.count, 4), 4, Access::Aligned); }},
    {"GuardOfNumber", "guard", [](Program& p) { p.b.load(p.x, p.position, 1, Access::Unaligned, p.one); }},
    {"StrideOfVector", "stride",
     [](Program& p) { p.b.load(p.x, p.position, 4, Access::Aligned, none, p.b.integer(Kind::Int64, 3)); }},
    {"StridedWithoutStride", "stride", [](Program& p) { p.b.load(p.x, p.position, 4, Access::Strided); }},
    {"AdvanceByElement", "not a distance", [](Program& p) { p.b.advance(p.x, p.one); }},
    {"ViewOfNumber", "not a pointer", [](Program& p) { p.b.view(p.one, p.zero, f32); }},
    {"TooMuchSharedMemory", "shared memory", [](Program& p) { p.b.shared(f32, 20000, "s"); }},
    {"VectorOfOneLane", "needs several width",
     [](Program& p) {
       const auto vector = static_cast<std::uint64_t>(Access::Aligned);
       p.add({Opcode::Load, value, {}, vector, {p.x, p.position, none, none}, {}});
     }},
    {"SharedWithinLoop", "top level", [](Program& p) { p.within(p.always, [&] { p.b.shared(f32, 32, "s"); }); }},
    {"ParameterWithinLoop", "top level", [](Program& p) { p.within(p.always, [&] { p.b.param("n", index); }); }},
    // Locals
    {"GetBeforeSet", "read before it is set", [](Program& p) { p.b.get(p.local()); }},
    {"CallBeforeSet", "read before it is set",
     [](Program& p) { p.b.call("compensated_add", {}, {p.local(), p.local(1, p.one), p.one}); }},
    {"SetOfAnotherDtype", "the local's type", [](Program& p) { p.b.set(p.local(), p.whole); }},
    {"SetOfAVector", "the local's type", [](Program& p) { p.b.set(p.local(), p.load(4, Access::AlignedIndexed)); }},
    {"SetOfNumber", "not a local", [](Program& p) { p.b.set(p.one, p.one); }},
    {"PositionPastTheEnd", "past the local's end",
     [](Program& p) { p.b.set(p.local(2), p.b.integer(Kind::Index, 2), p.one); }},
    {"CounterPastTheEnd", "past the local's end",
     [](Program& p) {
       const Value a = p.local(2);
       p.b.emit_unrolled(3, "k", [&](Value k) { p.b.set(a, k, p.one); });
     }},
    {"SumPastTheEnd", "past the local's end",
     [](Program& p) {
       const Value array = p.local(8);
       p.b.emit_unrolled(4, "k", [&](Value k) { p.b.set(array, p.b.add(k, p.b.integer(Kind::Index, 5)), p.one); });
     }},
    {"SumThatWraps", "not a known position",
     [](Program& p) {
       const Value array = p.local(8);
       p.b.emit_unrolled(4, "k",
                         [&](Value k) { p.b.set(array, p.b.add(k, p.b.integer(Kind::Index, 0xFFFFFFFE)), p.one); });
     }},
    {"CounterOfARolledLoop", "not a known position",
     [](Program& p) {
       const Value array = p.local(4), end = p.b.integer(Kind::Index, 4), step = p.b.integer(Kind::Index, 1);
       p.b.emit_for(p.zero, end, step, LoopHint::Rolled, "k", [&](Value k) { p.b.set(array, k, p.one); });
     }},
    {"PositionOfAThread", "not a known position", [](Program& p) { p.b.set(p.local(2), p.position, p.one); }},
    {"ArrayWithoutPosition", "a position is missing", [](Program& p) { p.b.set(p.local(2), p.one); }},
    {"ColumnOfAnotherWidth", "the local's type",
     [](Program& p) {
       const Value a = p.local(2);
       p.b.set(a, p.zero, p.one);
       p.b.column(a, p.zero, 4);
     }},
    {"ArrayWithFirstValue", "no initial value", [](Program& p) { p.local(2, p.one); }},
    // Functions
    {"UnknownFunction", "no such function", [](Program& p) { p.b.call("launch_missiles", {}, {p.one}); }},
    {"FunctionOfFewerOperands", "number of operands",
     [](Program& p) { p.b.call("compensated_value", value, {p.one}); }},
    {"FunctionOfIntegers", "of this dtype",
     [](Program& p) { p.b.call("compensated_value", p.b.type(p.whole), {p.whole, p.whole}); }},
    {"FunctionOfTwoDtypes", "dtypes differ",
     [](Program& p) { p.b.call("compensated_value", value, {p.one, p.b.constant(DType::Float64, 0)}); }},
    {"ValueWhereALocalChanges", "not a local",
     [](Program& p) { p.b.call("compensated_add", {}, {p.one, p.local(1, p.one), p.one}); }},
    {"ResultOfNone", "not the function's result",
     [](Program& p) { p.b.call("compensated_add", value, {p.local(1, p.one), p.local(1, p.one), p.one}); }},
    // Control flow
    {"NoEnd", "has no end", [](Program& p) { p.add({Opcode::If, {}, {}, 0, {p.inside}, {}}); }},
    {"EndOfNothing", "end without a range or if", [](Program& p) { p.add({Opcode::End, {}, {}, 0, {}, {}}); }},
    {"ConditionIsNumber", "not a scalar Bool", [](Program& p) { p.within(p.one, [] {}); }},
    {"LoopOfTwoKinds", "kinds differ",
     [](Program& p) { p.b.emit_for(p.zero, p.count, p.thread, LoopHint::Rolled, "i", [](Value) {}); }},
    {"LoopWithoutStep", "does not grow",
     [](Program& p) { p.b.emit_for(p.zero, p.count, p.zero, LoopHint::Rolled, "i", [](Value) {}); }},
    {"UnrolledUnknown", "needs constant bounds",
     [](Program& p) {
       p.b.emit_for(p.zero, p.count, p.b.integer(Kind::Index, 1), LoopHint::Unrolled, "i", [](Value) {});
     }},
    {"BarrierForSomeThreads", "not in uniform control flow",
     [](Program& p) { p.within(p.inside, [&] { p.b.barrier(); }); }},
    {"BarrierByWhatIsRead", "not in uniform control flow",
     [](Program& p) {
       const Value read = p.b.op(Op::gt, DType::Bool, {p.load(), p.one});
       p.within(read, [&] { p.b.barrier(); });
     }},
    {"BarrierByALocal", "not in uniform control flow",
     [](Program& p) {
       const Value a = p.b.local(index, 1, p.position, "a");
       p.within(p.b.less(p.b.get(a), p.count), [&] { p.b.warp_barrier(); });
     }},
    {"ShuffleInALoopOfAThread", "not in uniform control flow",
     [](Program& p) {
       p.b.emit_for(p.position, p.count, p.b.integer(Kind::Index, 1), LoopHint::Rolled, "i",
                    [&](Value) { p.b.shuffle_xor(p.one, 1); });
     }},
    {"ShuffleAcrossWarps", "not a lane mask", [](Program& p) { p.b.shuffle_xor(p.one, 32); }},
    // Faults
    {"RecordOfNumber", "not a Bool",
     [](Program& p) {
       p.b.record_fault(jit::Fault::DivisionByZero, p.one, none),
           p.b.report_fault(jit::Fault::DivisionByZero, p.fault, p.thread);
     }},
    {"RecordIsNotReported", "not reported",
     [](Program& p) { p.b.record_fault(jit::Fault::DivisionByZero, p.inside, none); }},
    {"ReportOfNothing", "never recorded",
     [](Program& p) { p.b.report_fault(jit::Fault::DivisionByZero, p.fault, p.thread); }},
    {"RecordAfterReport", "has been reported",
     [](Program& p) {
       p.b.report_fault(jit::Fault::DivisionByZero, p.fault, p.thread);
       p.b.record_fault(jit::Fault::DivisionByZero, p.inside, none);
     }},
    {"ReportWithinLoop", "top level",
     [](Program& p) {
       p.b.record_fault(jit::Fault::IndexOutOfRange, p.inside, none);
       p.within(p.always, [&] { p.b.report_fault(jit::Fault::IndexOutOfRange, p.fault, p.thread); });
     }},
};

class LoopsVerify : public ::testing::TestWithParam<Mistake> {};

TEST_P(LoopsVerify, Refuses) {
  Program p;
  ASSERT_EQ(verify(p.program), "");
  GetParam().make(p);
  EXPECT_THAT(verify(p.program), HasSubstr(GetParam().message)) << to_string(p.program);
}
INSTANTIATE_TEST_SUITE_P(Mistakes, LoopsVerify, ::testing::ValuesIn(mistakes),
                         [](const auto& i) { return i.param.name; });

TEST(LoopsVerifier, ARightProgram) {
  Program p;
  const Value sum = p.local(1, p.one), array = p.local(4);
  p.b.emit_unrolled(4, "k", [&](Value k) { p.b.set(array, k, p.load()); });
  p.b.emit_counted(2, "k", [&](Value k) { p.b.set(array, p.b.add(k, p.b.integer(Kind::Index, 2)), p.one); });
  p.within(p.always, [&] { p.b.barrier(); });
  p.b.emit_for(p.zero, p.count, p.b.integer(Kind::Index, 4), LoopHint::Rolled, "i", [&](Value) {
    p.b.set(sum, p.b.op(Op::sum, f32, {p.b.get(sum), p.b.get(array, p.zero)}));
    p.b.shuffle_xor(p.one, 16);
  });
  p.b.record_fault(jit::Fault::DivisionByZero, p.inside, p.always);
  p.b.store(p.y, p.position, p.b.splat(p.b.get(sum), 4), Access::Strided, p.inside, p.b.integer(Kind::Int64, 2));
  p.b.report_fault(jit::Fault::DivisionByZero, p.fault, p.thread);
  EXPECT_EQ(verify(p.program), "");
}

TEST(LoopsVerifier, ASerialProgramReadsItsOutputs) {
  Program p;
  p.program.serial = true;
  p.b.load(p.y, p.position, 1, Access::Unaligned);
  EXPECT_EQ(verify(p.program), "");
}

TEST(LoopsVerifier, SaysWhere) {
  Program p;
  const Value wrong = p.b.add(p.position, p.thread);
  EXPECT_EQ(verify(p.program), "%" + std::to_string(wrong) + " add: kinds differ");
}

}  // namespace
}  // namespace sinter::testing
