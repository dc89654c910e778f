// The loop IR: what Builder folds, dead code, and programs as text, one for each scheme.
#include <jit/loops/lower.hpp>

#include <gtest/gtest.h>

#include <jit/loops/builder.hpp>
#include <jit/loops/dead_code.hpp>
#include <jit/loops/verify.hpp>
#include <jit/plan/nest.hpp>
#include "golden.hpp"
#include "row_kernels.hpp"

namespace sinter::testing {
namespace {

using namespace jit::loops;

/// What programs are made of.
struct Example {
  LoopProgram program{.name = "example", .code = {}};
  Builder b{program};
  Value y = b.param("y0", pointer_type(DType::Float32));
  Value x = b.param("x0", pointer_type(DType::Float32));
  Value count = b.param("count", index_type(Kind::Index));
  Value thread = b.convert(b.builtin(Opcode::ThreadIdx), Kind::Index);
  Value one = b.constant(DType::Float32, 0x3f800000);

  Value loaded() { return b.load(x, thread, 1, Access::Unaligned); }
  std::size_t instructions(Opcode code) const {
    return static_cast<std::size_t>(std::ranges::count(program.code, code, &Instruction::code));
  }
};

TEST(Loops, TheBuilderFoldsIndices) {
  Example e;
  EXPECT_EQ(e.b.add(e.thread, e.b.integer(Kind::Index, 0)), e.thread);
  EXPECT_EQ(e.b.mul_by(e.thread, 1), e.thread);
  EXPECT_EQ(e.b.div_by(e.thread, 1), e.thread);
  EXPECT_EQ(e.b.mul_by(e.thread, 4), e.b.mul_by(e.thread, 4));
  EXPECT_EQ(e.program[e.b.mul_by(e.b.integer(Kind::Index, 6), 7)].attribute, 42u);
  EXPECT_EQ(e.program[e.b.rem_by(e.thread, 1)].attribute, 0u);
  EXPECT_EQ(e.program[e.b.convert(e.b.integer(Kind::Index, 6), Kind::Int64)].code, Opcode::Constant);
}

TEST(Loops, WhatIsComputedTwiceInOneScopeIsOneInstruction) {
  Example e;
  const Value outside = e.b.add(e.thread, e.count);
  Value inside = none;
  e.b.emit_if(e.b.less(e.thread, e.count), [&] {
    EXPECT_EQ(e.b.add(e.thread, e.count), outside);
    inside = e.b.mul(e.thread, e.count);
  });
  EXPECT_NE(e.b.mul(e.thread, e.count), inside);  // it is not visible any more
  EXPECT_NE(e.loaded(), e.loaded());              // memory may change
}

TEST(Loops, DeadCodeGoes) {
  Example e;
  const Value unused = e.b.local(element_type(DType::Float32), 1, e.one, "unused");
  e.b.set(unused, e.loaded());
  e.b.emit_if(e.b.less(e.thread, e.count), [&] { e.b.op(Op::exp, DType::Float32, {e.one}); });
  e.b.store(e.y, e.thread, e.one, Access::Unaligned);
  eliminate_dead_code(e.program);
  EXPECT_EQ(verify(e.program), "");
  for (const Opcode code : {Opcode::Local, Opcode::Set, Opcode::If, Opcode::End, Opcode::Elementwise, Opcode::Load})
    EXPECT_EQ(e.instructions(code), 0u) << name(code);
  EXPECT_EQ(e.instructions(Opcode::Param), 3u);  // what a launch gives stays
}

/// What writes to a local, in a loop that nothing else needs, stays with the loop.
TEST(Loops, WritesToWhatIsReadStay) {
  Example e;
  const Value sum = e.b.local(element_type(DType::Float32), 1, e.one, "sum"),
              compensation = e.b.local(element_type(DType::Float32), 1, e.one, "compensation");
  e.b.emit_for(e.thread, e.count, e.b.integer(Kind::Index, 32), LoopHint::Rolled, "i",
               [&](Value) { e.b.call("compensated_add", {}, {sum, compensation, e.loaded()}); });
  e.b.store(e.y, e.thread, e.b.get(sum), Access::Unaligned);
  eliminate_dead_code(e.program);
  EXPECT_EQ(verify(e.program), "");
  for (const Opcode code : {Opcode::Range, Opcode::Call, Opcode::Load, Opcode::End})
    EXPECT_EQ(e.instructions(code), 1u) << name(code);
}

TEST(Loops, AnInstructionALine) {
  Example e;
  e.b.emit_if(e.b.less(e.thread, e.count), [&] {
    e.b.store(e.y, e.thread, e.b.op(Op::add, DType::Float32, {e.loaded(), e.one}), Access::Unaligned);
  });
  EXPECT_EQ(to_string(e.program),
            "example: 256 threads, 1 blocks, 32-bit indices\n"
            "  %0 = param.float32* y0\n"
            "  %1 = param.float32* x0\n"
            "  %2 = param.index count\n"
            "  %3 = thread_idx.u32\n"
            "  %4 = convert.index %3\n"
            "  %5 = constant.float32 0x3f800000\n"
            "  %6 = less.bool %4 %2\n"
            "  if %6\n"
            "    %8 = load.float32 unaligned %1 %4 - -\n"
            "    %9 = elementwise.float32 add %8 %5\n"
            "    store unaligned %0 %4 %9 - -\n"
            "  end\n");
}

// ---- Goldens. Nothing is read or written.

/// An operand at an address that all vectors are aligned to.
TensorRef somewhere(const Shape& shape, DType dtype) {
  TensorRef t = runtime::iota_tensor(shape, Device());
  t->dtype = dtype;
  t->data = reinterpret_cast<std::byte*>(std::uintptr_t{4096});
  return t;
}

/// Of a kernel over (rows, columns), which lie by rows or by columns.
std::string text_of_rows(RowKernel&& written, std::int64_t rows, std::int64_t columns, bool by_columns = false) {
  const Kernel& kernel = written.done();
  const jit::KernelTraits traits(kernel);
  std::vector<TensorRef> tensors;
  std::vector<TensorImpl*> pointers;
  for (std::size_t k = 0; k < traits.operands.size(); ++k) {
    const bool is_row = kernel.rows->axis_mapping[k] != AxisMapping::Domain;
    tensors.push_back(somewhere(is_row       ? Shape{rows}
                                : by_columns ? Shape{columns, rows}
                                             : Shape{rows, columns},
                                traits.operands[k].dtype));
    if (!is_row && by_columns) tensors.back() = transposed(tensors.back());
    pointers.push_back(tensors.back().get());
  }
  const jit::ClassKey key = jit::classify(traits, row_nest(kernel, pointers, {rows, columns}), false);
  return to_string(lower(kernel, traits, key.decode(traits.operands.size())));
}

struct Softmax : RowKernel {
  Softmax() : RowKernel("softmax_f32") { write_softmax(*this, DType::Float32, DType::Float32); }
};
struct Sum : RowKernel {
  Sum() : RowKernel("sum_f32") { write_sum(*this, DType::Float32); }
};

TEST(Loops, TextsOfRows) {
  test::expect_golden("loops_softmax_in_registers.txt", text_of_rows(Softmax(), 4096, 1024));
  test::expect_golden("loops_softmax_cached.txt", text_of_rows(Softmax(), 4096, 40000));
  test::expect_golden("loops_sum_columns.txt", text_of_rows(Sum(), 1 << 20, 1000, true));
  test::expect_golden("loops_sum_split.txt", text_of_rows(Sum(), 1, (1 << 24) + 1));
}

/// x + y over (rows, columns) in float32, where y may be transposed.
std::string text_of_sum(std::int64_t rows, std::int64_t columns, bool is_transposed) {
  Kernel kernel;
  kernel.name = "sinter_add_f32";
  const Operand terms[] = {kernel.graph.leaf(DType::Float32, 0), kernel.graph.leaf(DType::Float32, 1)};
  kernel.graph.output(kernel.graph.apply(Op::add, terms));
  kernel.inputs = {{jit::Slot::Kind::Leaf, 0}, {jit::Slot::Kind::Leaf, 1}};
  kernel.outputs = {{jit::Slot::Kind::Output, 0}};
  const TensorRef x = somewhere({rows, columns}, DType::Float32), other = somewhere({columns, rows}, DType::Float32),
                  y = is_transposed ? transposed(other) : x;
  TensorImpl* const operands[] = {x.get(), x.get(), y.get()};
  jit::LoopNest nest;
  jit::make_nest(nest, operands, 1);
  const jit::KernelTraits traits(kernel);
  return to_string(lower(kernel, traits, jit::classify(traits, nest, false).decode(3)));
}

TEST(Loops, TextsOfElements) {
  test::expect_golden("loops_add.txt", text_of_sum(1000, 1000, false));
  test::expect_golden("loops_add_strided.txt", text_of_sum(1001, 999, true));
  test::expect_golden("loops_add_tiled.txt", text_of_sum(1024, 1024, true));
}

}  // namespace
}  // namespace sinter::testing
