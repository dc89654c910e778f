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

/// x + y, of floats.
Graph sum_graph() {
  Graph graph;
  const Operand x = graph.leaf(DType::Float32, 0), y = graph.leaf(DType::Float32, 1);
  graph.output(graph.node(Op::add, DType::Float32, std::vector{x, y}));
  return graph;
}

#if defined(__x86_64__)
constexpr bool has_streams = true;
#else
constexpr bool has_streams = false;  // no such stores
#endif

/// Whether the sum of rows of 1000 is streamed, whose operands lie at these addresses with these strides from row to
/// row.
bool streams(std::int64_t rows, const std::vector<std::byte*>& data,
             std::vector<std::int64_t> steps = {1000, 1000, 1000}, int outputs = 1) {
  LoopNest nest;
  nest.outputs = outputs;
  nest.ndim = 2;
  nest.numel = rows * 1000;
  nest.extents[0] = rows, nest.extents[1] = 1000;
  nest.operands.resize(3);
  for (std::size_t k = 0; k < 3; ++k) {
    nest.operands[k].data = data[k];
    nest.operands[k].strides[0] = steps[k], nest.operands[k].strides[1] = 1;
  }
  return jit::cpu::StreamRule(sum_graph()).applies(nest);
}

TEST(CpuStreaming, BeginsWhereArraysHaveMoreBytes) {
  alignas(64) std::byte memory[256];
  const std::vector<std::byte*> apart{memory, memory + 64, memory + 128};
  EXPECT_FALSE(streams(0, apart));
  EXPECT_FALSE(streams(83, apart));  // 996,000 bytes
  EXPECT_EQ(streams(84, apart), has_streams);
  EXPECT_FALSE(streams(124, apart, {1000, 1000, 0})) << "a row that is broadcast counts once";
  EXPECT_EQ(streams(125, apart, {1000, 1000, 0}), has_streams);
}

TEST(CpuStreaming, OnlyAnArrayOfTheOutputsOwn) {
  alignas(64) std::byte memory[256];
  EXPECT_EQ(streams(1000, {memory, memory + 64, memory + 64}), has_streams);
  EXPECT_EQ(streams(1000, {memory + 4, memory + 64, memory + 128}), has_streams);
  EXPECT_FALSE(streams(1000, {memory, memory, memory + 128})) << "in place";
  EXPECT_FALSE(streams(1000, {memory + 2, memory + 64, memory + 128})) << "no vector would be aligned";
  EXPECT_FALSE(streams(1000, {memory, memory + 64, memory + 128}, {1000, 1000, 1000}, 2));
  EXPECT_FALSE(streams(1000, {memory, memory + 64, memory + 128}, {0, 1000, 1000})) << "rows that are all one";
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
