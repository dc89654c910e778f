// The executor's iteration over rows: values computed once per row, outer dims that restart, arrays with a stride of 2.
// Expected values are computed by operations that can round in only one way, so results are equal bit by bit.
#include <jit/cpu/worker.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include "cpu_kernels.hpp"

namespace sinter::test {
namespace {

using Extents = std::vector<std::int64_t>;

Operand make(Graph& graph, Op op, std::initializer_list<Operand> operands) {
  return graph.node(op, DType::Float32, std::vector<Operand>(operands));
}

float at(const Array& a, const Extents& extents, std::int64_t i) { return as<float>(element(a, extents, i)); }

Array counted(const Extents& extents, const Extents& strides, float offset) {
  Array a = make_array(DType::Float32, extents, strides);
  for (std::int64_t i = 0; i < a.extent; ++i)
    write(DType::Float32, a.memory.data() + 4 * i, to_bits(offset + static_cast<float>(i % 1009) / 64));
  return a;
}

/// (x - mean) / sqrt(variance + 1) * gain: `of_row` are the strides of mean and variance.
void check_rows(const Extents& extents, const Extents& of_row, bool unpacked, const std::string& what) {
  Graph graph;
  const Operand x = graph.leaf(DType::Float32, 0), mean = graph.leaf(DType::Float32, 1),
                variance = graph.leaf(DType::Float32, 2), gain = graph.leaf(DType::Float32, 3),
                one = graph.constant(DType::Float32, to_bits(1.f));
  const Operand deviation = make(graph, Op::sqrt, {make(graph, Op::add, {variance, one})});
  graph.output(make(graph, Op::mul, {make(graph, Op::div, {make(graph, Op::sub, {x, mean}), deviation}), gain}));
  graph.output(deviation);
  Extents last(extents.size(), 0), outputs = row_major(extents);
  last.back() = 1;
  if (unpacked)
    for (std::int64_t& s : outputs) s *= 2;
  const Array xs = counted(extents, row_major(extents), -3), means = counted(extents, of_row, 1),
              variances = counted(extents, of_row, 2), gains = counted(extents, last, -7);
  const Array out = make_array(DType::Float32, extents, outputs),
              deviations = make_array(DType::Float32, extents, outputs);
  const LoopNest nest = make_nest(extents, {&out, &deviations, &xs, &means, &variances, &gains}, 2);
  TileProgram(graph).run(nest, {});
  for (std::int64_t i = 0; i < nest.numel; ++i) {
    const float expected = std::sqrt(at(variances, extents, i) + 1);
    ASSERT_EQ(at(deviations, extents, i), expected) << what << ", element " << i;
    ASSERT_EQ(at(out, extents, i), (at(xs, extents, i) - at(means, extents, i)) / expected * at(gains, extents, i))
        << what << ", element " << i;
  }
}

TEST(CpuWorker, WhatARowNeedsOnce) {
  EachIsa().run([&](Isa isa) {
    for (const bool unpacked : {false, true})
      for (const std::int64_t width : {32, 40, 128, 200, 333, 3000}) {
        const std::string what = fmt::format("{} width {}{}", isa_name(isa), width, unpacked ? " unpacked" : "");
        check_rows({1, width}, {0, 0}, unpacked, what + ", one row");
        check_rows({150, width}, {1, 0}, unpacked, what + ", side by side");
        check_rows({150, width}, {3, 0}, unpacked, what + ", apart");
        check_rows({70, width}, {-1, 0}, unpacked, what + ", backwards");
        check_rows({5, 67, width}, {67, 1, 0}, unpacked, what + ", merged outer dims");
        check_rows({5, 67, width}, {1, 5, 0}, unpacked, what + ", outer dims the other way round");
        check_rows({5, 67, width}, {1, 0, 0}, unpacked, what + ", same along the inner one of the outer dims");
        check_rows({3, 2, 9, width}, {40, 1, 2, 0}, unpacked, what + ", three outer dims");
      }
  });
}

/// A single operation, whose rows are processed without anything between them.
TEST(CpuWorker, OneStep) {
  EachIsa().run([&](Isa isa) {
    for (const Extents& extents : {Extents{70, 33}, Extents{4, 20, 200}, Extents{2, 3, 5, 100}})
      for (const bool reversed : {false, true}) {
        Graph graph;
        const Operand a = graph.leaf(DType::Float32, 0), b = graph.leaf(DType::Float32, 1);
        graph.output(make(graph, Op::sub,
                          reversed ? std::initializer_list<Operand>{b, a} : std::initializer_list<Operand>{a, b}));
        Extents row(extents.size(), 0), column = row_major(extents);
        row.back() = 1;
        for (std::int64_t& s : column) s = s / extents.back() * 2;
        const Array rows = counted(extents, row, 1), columns = counted(extents, column, 5);
        const Array out = make_array(DType::Float32, extents, row_major(extents));
        const LoopNest nest = make_nest(extents, {&out, &rows, &columns}, 1);
        TileProgram(graph).run(nest, {});
        for (std::int64_t i = 0; i < nest.numel; ++i) {
          const float difference = at(rows, extents, i) - at(columns, extents, i);
          ASSERT_EQ(at(out, extents, i), reversed ? -difference : difference) << isa_name(isa) << ", element " << i;
        }
      }
  });
}

/// Divisors of rows are looked at like others: each once, all of them.
TEST(CpuWorker, ZeroAmongTheDivisorsOfRows) {
  for (const std::int64_t zero : {-1, 0, 63, 64, 99}) {
    Graph graph;
    const Operand x = graph.leaf(DType::Int32, 0), a = graph.leaf(DType::Int32, 1), b = graph.leaf(DType::Int32, 2);
    const Operand quotient[] = {a, b}, both[] = {x, graph.node(Op::floor_divide, DType::Int32, quotient)};
    graph.output(graph.node(Op::add, DType::Int32, both));
    const Extents extents{100, 64};
    Array xs = make_array(DType::Int32, extents, {64, 1}), dividends = make_array(DType::Int32, extents, {1, 0}),
          divisors = make_array(DType::Int32, extents, {2, 0});
    for (Array* array : {&xs, &dividends, &divisors})
      for (std::int64_t i = 0; i < array->extent; ++i)
        write(DType::Int32, array->memory.data() + 4 * i, to_bits(static_cast<std::int32_t>(i + 1)));
    if (zero >= 0) write(DType::Int32, divisors.memory.data() + 8 * zero, 0);
    const Array out = make_array(DType::Int32, extents, {64, 1});
    const auto faults = TileProgram(graph).run(make_nest(extents, {&out, &xs, &dividends, &divisors}, 1), {});
    EXPECT_EQ(faults.division_by_zero, zero >= 0) << zero;
    EXPECT_FALSE(faults.index_out_of_range);
    for (std::int64_t i = 0; i < 6400; ++i) {
      const std::int64_t row = i / 64, q = row == zero ? 0 : (row + 1) / (2 * row + 1);
      ASSERT_EQ(as<std::int32_t>(element(out, extents, i)), i + 1 + q) << "zero at " << zero << ", element " << i;
    }
  }
}

/// 16-bit elements, which have no operations: converted to their compute dtype.
TEST(CpuWorker, EverySecondOf16Bits) {
  EachIsa().run([&](Isa isa) {
    for (std::int64_t n = 1; n <= 300; ++n) {
      Graph graph;
      const Operand x = graph.leaf(DType::Int16, 0);
      graph.output(graph.node(Op::cast, DType::Int32, {&x, 1}));
      const Array wide = [&] {
        Array a = make_array(DType::Int16, {n}, {2});
        for (std::int64_t i = 0; i < a.extent; ++i)
          write(DType::Int16, a.memory.data() + 2 * i, to_bits(static_cast<std::int16_t>(i + 1)));
        return a;
      }();
      const Array out = make_array(DType::Int32, {n}, {1});
      TileProgram(graph).run(make_nest({n}, {&out, &wide}, 1), {});
      for (std::int64_t i = 0; i < n; ++i)
        ASSERT_EQ(as<std::int32_t>(element(out, {n}, i)), 2 * i + 1)
            << isa_name(isa) << ", " << n << " elements, " << i;
    }
  });
}

/// The array ends with the last element that is read.
TEST(CpuWorker, EverySecond) {
  EachIsa().run([&](Isa isa) {
    for (const DType t : all_dtypes)
      for (std::int64_t n = 1; n <= 5000; n = n < 70 ? n + 1 : n * 3) {
        Graph graph;
        const Operand both[] = {graph.leaf(t, 0), graph.leaf(t, 1)};
        graph.output(graph.node(Op::maximum, t, both));
        const Extents extents{2, n};
        Array wide = make_array(t, extents, {2 * n + 1, 2}), zeros = make_array(t, extents, {n, 1});
        std::mt19937_64 random(static_cast<std::uint64_t>(n));
        for (std::int64_t i = 0; i < wide.extent; ++i) {
          const Bits bits = t == DType::Bool      ? random() & 1
                            : t == DType::Float32 ? to_bits(static_cast<float>(i + 1))
                            : t == DType::Float64 ? to_bits(static_cast<double>(i + 1))
                                                  : static_cast<Bits>(i + 1);
          write(t, wide.memory.data() + i * static_cast<std::int64_t>(size_of(t)), bits);
        }
        const Array out = make_array(t, extents, {n, 1});
        TileProgram(graph).run(make_nest(extents, {&out, &wide, &zeros}, 1), {});
        for (std::int64_t i = 0; i < 2 * n; ++i)
          ASSERT_EQ(element(out, extents, i), element(wide, extents, i))
              << isa_name(isa) << ' ' << name(t) << ", " << n << " columns, element " << i;
      }
  });
}

}  // namespace
}  // namespace sinter::test
