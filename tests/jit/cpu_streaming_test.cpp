// Which outputs are written past the caches. That they have the same bits is what the tests of compiled loops show,
// which ctest runs once more with SINTER_CPU_STREAM_BYTES=0.
#include <jit/cpu/streaming.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "../setup.hpp"
#include "cpu_compiled_case.hpp"

namespace sinter::test {
namespace {

const Setup small_limit([] { setenv("SINTER_CPU_STREAM_BYTES", "1000000", 1); });

TEST(CpuStreaming, BeginsWhereArraysHaveMoreBytes) {
  EXPECT_EQ(jit::cpu::longest_cached_run(8), 125'000);
  EXPECT_EQ(jit::cpu::longest_cached_run(3), 333'333);
  EXPECT_EQ(jit::cpu::longest_cached_run(0), 1'000'000);
}

/// A nest of an output and an input of floats at these addresses.
LoopNest nest_of(std::byte* output, std::byte* input, int outputs = 1) {
  LoopNest nest;
  nest.outputs = outputs;
  nest.operands.resize(2);
  nest.operands[0].data = output;
  nest.operands[1].data = input;
  return nest;
}

TEST(CpuStreaming, OnlyAnArrayOfTheOutputsOwn) {
  alignas(64) std::byte memory[256];
  EXPECT_TRUE(jit::cpu::can_stream(nest_of(memory, memory + 128), 4));
  EXPECT_TRUE(jit::cpu::can_stream(nest_of(memory + 4, memory + 128), 4));
  EXPECT_FALSE(jit::cpu::can_stream(nest_of(memory, memory), 4));  // in place
  EXPECT_FALSE(jit::cpu::can_stream(nest_of(memory + 2, memory + 128), 4)) << "no vector would be aligned";
  EXPECT_FALSE(jit::cpu::can_stream(nest_of(memory, memory + 128, 2), 4));
}

/// Past the limit, from any address, in every instruction set; short and long rows, whose ends are not streamed.
TEST(CpuStreaming, ResultsAreTheSame) {
  EachIsa().run([](Isa isa) {
    SCOPED_TRACE(isa_name(isa));
    for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Int32, DType::Bool}) {
      SCOPED_TRACE(info(dtype).name);
      Case c;
      const bool is_half = dtype == DType::BFloat16, is_bool = dtype == DType::Bool;
      const DType compute = is_half || is_bool ? DType::Float32 : dtype;
      const Operand x = c.leaf(compute), y = c.leaf(compute);
      const Operand product = c.graph.node(Op::mul, compute, std::vector{x, y});
      const Operand sum = c.graph.node(Op::add, compute, std::vector{product, y});
      c.output(is_half   ? c.graph.node(Op::cast, dtype, std::vector{sum})
               : is_bool ? c.graph.node(Op::lt, dtype, std::vector{sum, y})
                         : sum,
               dtype);
      for (const std::uint32_t seed : {1u, 2u, 3u, 4u}) c.check(130'001, 0, seed);
      for (const std::int64_t columns : {100, 1001})
        c.check({131'000 / columns, columns}, {columns + 3, 1}, {{columns + 1, 1}, {0, 1}}, 5);
    }
  });
}

}  // namespace
}  // namespace sinter::test
