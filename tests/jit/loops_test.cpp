// The loop IR: its verifier, dead code, and programs as text, one for each scheme.
#include <jit/loops/lower.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include <jit/loops/builder.hpp>
#include <jit/loops/dead_code.hpp>
#include <jit/loops/verify.hpp>
#include "golden.hpp"
#include "row_kernels.hpp"

namespace sinter::testing {
namespace {

using namespace jit::loops;
using ::testing::HasSubstr;

/// A program that stores x + 1 for each thread.
struct Example {
  Loops loops{.name = "example", .code = {}};
  Builder b{loops};
  Value y = b.param("y0", pointer_type(DType::Float32));
  Value x = b.param("x0", pointer_type(DType::Float32));
  Value count = b.param("count", index_type(Kind::Index));
  Value thread = b.convert(b.special(Code::Thread), Kind::Index);
  Value one = b.constant(DType::Float32, 0x3f800000);

  Value loaded() { return b.load(x, thread, 1, Access::Elements); }
  std::string wrong() const { return verify(loops); }
};

TEST(Loops, AProgramIsRight) {
  Example e;
  e.b.when(e.b.less(e.thread, e.count));
  e.b.store(e.y, e.thread, e.b.alu(Op::add, DType::Float32, {e.loaded(), e.one}), Access::Elements);
  e.b.end();
  EXPECT_EQ(e.wrong(), "");
}

TEST(Loops, OperandsMustBeVisible) {
  Example e;
  e.b.when(e.b.less(e.thread, e.count));
  const Value inside = e.loaded();
  e.b.end();
  e.b.store(e.y, e.thread, inside, Access::Elements);
  EXPECT_THAT(e.wrong(), HasSubstr("not visible"));
}

TEST(Loops, KindsAreNotMixed) {
  Example e;
  e.b.add(e.thread, e.b.special(Code::Block));
  EXPECT_THAT(e.wrong(), HasSubstr("kinds differ"));
}

TEST(Loops, ElementsAreNoIndices) {
  Example e;
  e.b.alu(Op::add, DType::Float32, {e.one, e.thread});
  EXPECT_THAT(e.wrong(), HasSubstr("not an element"));
}

TEST(Loops, LanesAreEqual) {
  Example e;
  const Value four = e.b.load(e.x, e.thread, 4, Access::Vectors), two = e.b.load(e.x, e.thread, 2, Access::Vectors);
  e.b.alu(Op::add, DType::Float32, {four, two});
  EXPECT_THAT(e.wrong(), HasSubstr("lanes differ"));
}

TEST(Loops, StoresHaveThePointersDtype) {
  Example e;
  e.b.store(e.y, e.thread, e.b.constant(DType::Int32, 1), Access::Elements);
  EXPECT_THAT(e.wrong(), HasSubstr("dtype"));
}

TEST(Loops, LocalsAreLongEnough) {
  Example e;
  const Value local = e.b.local(element_type(DType::Float32), 2, none, "a");
  const Value k = e.b.unrolled(3, "k");
  e.b.set(local, k, e.one);
  e.b.end();
  EXPECT_THAT(e.wrong(), HasSubstr("past the local's end"));
}

TEST(Loops, BarriersAreForAllThreads) {
  Example e;
  e.b.when(e.b.less(e.thread, e.count));
  e.b.barrier();
  e.b.end();
  EXPECT_THAT(e.wrong(), HasSubstr("threads may be apart"));
  Example uniform;
  uniform.b.when(uniform.b.less(uniform.b.integer(Kind::Index, 0), uniform.count));
  uniform.b.barrier();
  uniform.b.end();
  EXPECT_EQ(uniform.wrong(), "");
}

TEST(Loops, ConditionsEnd) {
  Example e;
  e.b.when(e.b.less(e.thread, e.count));
  EXPECT_THAT(e.wrong(), HasSubstr("no end"));
}

TEST(Loops, FunctionsAreThePreludes) {
  Example e;
  e.b.call("launch_missiles", {}, {e.one});
  EXPECT_THAT(e.wrong(), HasSubstr("no such function"));
}

TEST(Loops, TheBuilderFoldsIndices) {
  Example e;
  EXPECT_EQ(e.b.add(e.thread, e.b.integer(Kind::Index, 0)), e.thread);
  EXPECT_EQ(e.b.times(e.thread, 1), e.thread);
  EXPECT_EQ(e.b.over(e.thread, 1), e.thread);
  EXPECT_EQ(e.b.times(e.thread, 4), e.b.times(e.thread, 4));
  EXPECT_EQ(e.loops[e.b.times(e.b.integer(Kind::Index, 6), 7)].attribute, 42u);
}

TEST(Loops, DeadCodeGoes) {
  Example e;
  const Value unused = e.b.local(element_type(DType::Float32), 1, e.one, "unused");
  e.b.set(unused, e.loaded());
  e.b.when(e.b.less(e.thread, e.count));
  e.b.alu(Op::exp, DType::Float32, {e.one});
  e.b.end();
  e.b.store(e.y, e.thread, e.one, Access::Elements);
  eliminate_dead_code(e.loops);
  EXPECT_EQ(e.wrong(), "");
  for (const Instruction& i : e.loops.code)
    EXPECT_TRUE(i.code != Code::Local && i.code != Code::Set && i.code != Code::If && i.code != Code::Alu)
        << name(i.code);
}

/// The loops of a kernel for (rows, columns) that lie by rows or by columns. Nothing is read or written.
Loops loops_for(const Kernel& kernel, std::int64_t rows, std::int64_t columns, bool by_columns = false) {
  const jit::KernelTraits traits(kernel);
  const Shape domain{rows, columns};
  std::vector<TensorRef> tensors;
  std::vector<TensorImpl*> pointers;
  for (std::size_t k = 0; k < traits.operands.size(); ++k) {
    const bool is_row = kernel.rows->over[k] != Over::Domain;
    TensorRef t = runtime::index_tensor(is_row ? Shape{rows} : by_columns ? Shape{columns, rows} : domain, Device());
    t->dtype = traits.operands[k].dtype;
    if (!is_row && by_columns) t = transposed(t);
    t->data = reinterpret_cast<std::byte*>(std::uintptr_t{4096});
    tensors.push_back(t);
    pointers.push_back(tensors.back().get());
  }
  const jit::ClassKey key = jit::classify(traits, row_nest(kernel, pointers, domain), false);
  return lower(kernel, traits, key.decode(traits.operands.size()));
}

struct Softmax : RowKernel {
  Softmax() : RowKernel("softmax_f32") { write_softmax(*this, DType::Float32, DType::Float32); }
};
struct Sum : RowKernel {
  Sum() : RowKernel("sum_f32") { write_sum(*this, DType::Float32); }
};

TEST(Loops, GoldenTexts) {
  Softmax softmax_kernel;
  Sum sum_kernel;
  const Kernel &softmax = softmax_kernel.done(), &sum = sum_kernel.done();
  test::expect_golden("loops_softmax_kept.txt", to_string(loops_for(softmax, 4096, 1024)));
  test::expect_golden("loops_softmax_cached.txt", to_string(loops_for(softmax, 4096, 40000)));
  test::expect_golden("loops_sum_columns.txt", to_string(loops_for(sum, 1 << 20, 1000, true)));
  test::expect_golden("loops_sum_split.txt", to_string(loops_for(sum, 1, (1 << 24) + 1)));
}

// A damaged program is refused or not, but never read out of bounds.
TEST(Loops, DamageDoesNotCrashTheVerifier) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  Softmax softmax;
  const Loops whole = loops_for(softmax.done(), 4096, 40000);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    Loops damaged = whole;
    Instruction& i = damaged.code[random() % damaged.code.size()];
    switch (random() % 4) {
      case 0: i.code = static_cast<Code>(random() % (static_cast<unsigned>(Code::Report) + 1)); break;
      case 1: i.type.lanes = 1 << random() % 4; break;
      case 2: i.type.kind = static_cast<Kind>(random() % (static_cast<unsigned>(Kind::Unused) + 1)); break;
      default:
        if (!i.operands.empty())
          i.operands[random() % i.operands.size()] = static_cast<Value>(random() % whole.code.size()) - 1;
    }
    refused += !verify(damaged).empty();
  }
  EXPECT_GT(refused, 800);
}

}  // namespace
}  // namespace sinter::testing
