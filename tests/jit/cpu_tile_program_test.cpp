// Whole graphs on the CPU: shapes, strides, aliasing, threads. Results must equal the operations one by one, bit by
// bit.
#include <jit/cpu/tile_program.hpp>
#include <jit/passes/complex_parts.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

#include "cpu_kernels.hpp"

namespace sinter::test {
namespace {

using Extents = std::vector<std::int64_t>;

/// One operation on one element by the executor itself: what fused steps must reproduce. Whether it is right is
/// cpu_ops_test's business.
Bits by_executor(Op op, DType compute, DType result, const std::vector<Bits>& in) {
  Graph graph;
  std::vector<Operand> operands;
  std::vector<Bits> words(in);
  LoopNest nest;
  Bits out = 0;
  nest.operands.push_back({reinterpret_cast<std::byte*>(&out), {1}});
  for (std::uint32_t k = 0; k < in.size(); ++k) {
    operands.push_back(graph.leaf(k == 0 && info(op).rule == DTypeRule::Select ? DType::Bool : compute, k));
    nest.operands.push_back({reinterpret_cast<std::byte*>(&words[k]), {1}});
  }
  graph.output(graph.node(op, result, operands));
  TileProgram(graph).run(nest, {});
  return out;
}

/// The outputs of one element, operation by operation.
std::vector<Bits> expected_of(const Graph& graph, const std::vector<Bits>& leaves, const std::vector<Bits>& scalars) {
  std::vector<Bits> values;
  std::size_t scalar = 0;
  for (const jit::Node& n : graph.nodes()) {
    std::vector<Bits> in;
    for (const Operand o : graph.operands(n)) in.push_back(values[static_cast<std::size_t>(o.node)]);
    switch (n.op) {
      case Op::leaf:
      case Op::iota: values.push_back(leaves[n.attribute]); break;
      case Op::scalar: values.push_back(scalars[scalar++]); break;
      case Op::constant: values.push_back(n.attribute); break;
      default: {
        const DType compute = graph[graph.operands(n).back()].dtype;
        const DTypeRule rule = info(n.op).rule;
        const bool rounded = rule == DTypeRule::Float || rule == DTypeRule::FloatOnly || n.op == Op::pow;
        values.push_back(n.op == Op::cast ? convert_bits(in[0], compute, n.dtype)
                         : rounded        ? by_executor(n.op, compute, n.dtype, in)
                                          : apply(n.op, compute, in));
      }
    }
  }
  std::vector<Bits> outputs;
  for (const Operand o : graph.outputs()) outputs.push_back(values[static_cast<std::size_t>(o.node)]);
  return outputs;
}

bool same(DType t, Bits a, Bits b) {
  const auto nan = [&](Bits v) {
    return t == DType::Float32 ? std::isnan(as<float>(v)) : t == DType::Float64 && std::isnan(as<double>(v));
  };
  return a == b || (nan(a) && nan(b));
}

/// A kernel with its arrays. `in_place[k]` is the leaf that output k is written over, or -1.
struct Case {
  Graph graph;
  Extents extents;
  std::vector<Array> leaves, outputs;
  std::vector<int> in_place;
  std::vector<Bits> scalars;

  const Array& output(std::size_t k) const {
    return in_place[k] < 0 ? outputs[k] : leaves[static_cast<std::size_t>(in_place[k])];
  }
  LoopNest nest() const {
    std::vector<const Array*> all;
    for (std::size_t k = 0; k < outputs.size(); ++k) all.push_back(&output(k));
    for (const Array& a : leaves) all.push_back(&a);
    return make_nest(extents, all, static_cast<int>(outputs.size()));
  }
};

std::string describe(const Case& c) {
  std::string text;
  int id = 0;
  for (const jit::Node& n : c.graph.nodes()) {
    text += fmt::format("\n  {}: {} {}", id++, name(n.dtype), name(n.op));
    for (const Operand o : c.graph.operands(n)) text += fmt::format(" {}", o.node);
    if (n.op < first_table_op) text += fmt::format(" [{:#x}]", n.attribute);
  }
  for (const Operand o : c.graph.outputs()) text += fmt::format("\n  output {}", o.node);
  for (const int k : c.in_place) text += fmt::format(" over {}", k);
  for (const Array& a : c.leaves)
    text += fmt::format("\n  leaf {} strides {}", name(a.dtype), fmt::join(a.strides, ","));
  for (const Array& a : c.outputs)
    text += fmt::format("\n  out {} strides {}", name(a.dtype), fmt::join(a.strides, ","));
  return text;
}

/// Runs and compares every element, or some hundreds of them where there are more.
void check(const Case& c, const std::string& what) {
  const LoopNest nest = c.nest();
  std::int64_t numel = 1;
  for (const std::int64_t e : c.extents) numel *= e;
  std::vector<std::int64_t> at;
  const std::int64_t step = std::max<std::int64_t>(1, numel / 300);
  for (std::int64_t i = 0; i < numel; i += i < 40 || i + 80 > numel ? 1 : step) at.push_back(i);
  std::vector<std::vector<Bits>> expected;
  for (const std::int64_t i : at) {
    std::vector<Bits> in;
    for (const Array& a : c.leaves) in.push_back(element(a, c.extents, i));
    expected.push_back(expected_of(c.graph, in, c.scalars));
  }
  TileProgram(c.graph).run(nest, c.scalars);
  for (std::size_t n = 0; n < at.size(); ++n)
    for (std::size_t k = 0; k < c.outputs.size(); ++k) {
      const DType t = c.graph[c.graph.outputs()[k]].dtype;
      const Bits got = element(c.output(k), c.extents, at[n]);
      ASSERT_TRUE(same(t, expected[n][k], got))
          << what << ": output " << k << " at " << at[n] << " of " << numel << ": " << show(t, got) << ", expected "
          << show(t, expected[n][k]) << describe(c);
    }
}

/// A random graph over the leaves: mostly floats, chains that fuse, some of everything else.
template <class Random>
Graph random_graph(const std::vector<DType>& leaves, const std::vector<bool>& index, int operations, int outputs,
                   Random& random) {
  Graph graph;
  std::vector<Operand> values;
  std::uint32_t scalars = 0;
  for (std::uint32_t k = 0; k < leaves.size(); ++k)
    values.push_back(index[k] ? graph.iota(k) : graph.leaf(leaves[k], k));
  const auto pick = [&] {
    return values[values.size() - 1 -
                  std::min<std::size_t>(random() % (random() % 3 ? 4 : values.size()), values.size() - 1)];
  };
  while (operations > 0) {
    if (random() % 6 == 0) {
      const DType t = all_dtypes[random() % 5];
      values.push_back(random() % 2 ? graph.constant(t, random_bits(t, random))
                                    : graph.scalar(t, category(t), scalars++));
    }
    constexpr Op common[] = {Op::add, Op::sub,  Op::mul,    Op::fma,     Op::neg,        Op::exp, Op::tanh, Op::sqrt,
                             Op::abs, Op::relu, Op::square, Op::sigmoid, Op::reciprocal, Op::log, Op::erf};
    Op op = common[random() % std::size(common)];
    if (random() % 4 == 0)
      op = static_cast<Op>(
          static_cast<int>(first_table_op) +
          static_cast<int>(random() % static_cast<std::uint64_t>(op_count - static_cast<int>(first_table_op))));
    const DTypeRule rule = info(op).rule;
    if (op == Op::copysign || is_composite(op) || jit::is_of_parts(op) || is_random(op)) continue;
    std::vector<Operand> operands;
    std::vector<OperandType> types;
    for (int k = 0; k < info(op).arity; ++k) {
      operands.push_back(pick());
      types.push_back({graph[operands.back()].dtype});
    }
    if (rule == DTypeRule::Select && types[0].dtype != DType::Bool) {
      operands[0] = graph.cast(operands[0], DType::Bool);
      types[0].dtype = DType::Bool;
    }
    const OpTypes t = op_types(op, types);
    if (!t.ok) continue;
    for (std::size_t k = rule == DTypeRule::Select ? 1 : 0; k < operands.size(); ++k)
      operands[k] = graph.cast(operands[k], t.compute);
    values.push_back(graph.node(op, t.result, operands));
    --operations;
  }
  for (int k = 0; k < outputs; ++k) graph.output(k == 0 ? values.back() : pick());
  return graph;
}

/// Strides for the extents: row-major, with gaps, reversed, transposed, or broadcast along some dims.
template <class Random>
Extents random_strides(const Extents& extents, bool output, Random& random) {
  Extents strides = row_major(extents);
  switch (random() % 6) {
    case 0:
      for (std::int64_t& s : strides) s *= 2;
      break;
    case 1:
      for (std::int64_t& s : strides)
        if (random() % 2) s = -s;
      break;
    case 2:
      if (extents.size() > 1) {  // the last two dims change places
        const std::size_t d = extents.size() - 1;
        strides[d] = extents[d - 1];
        strides[d - 1] = 1;
      }
      break;
    case 3:
      if (!output)
        for (std::int64_t& s : strides)
          if (random() % 2) s = 0;
      break;
    default: break;
  }
  return strides;
}

template <class Random>
Case random_case(const Extents& extents, Random& random) {
  Case c;
  c.extents = extents;
  std::vector<DType> dtypes;
  std::vector<bool> index;
  const int leaves = 1 + static_cast<int>(random() % 4),
            outputs = 1 + static_cast<int>(random() % 8 == 0 ? random() % 3 : 0);
  for (int k = 0; k < leaves; ++k) {
    const bool is_index = random() % 10 == 0;
    const DType t = is_index       ? DType::Int64
                    : random() % 3 ? (random() % 4 ? DType::Float32 : DType::Float64)
                                   : all_dtypes[random() % 5];
    const Extents strides = random_strides(extents, false, random);
    c.leaves.push_back(is_index ? make_iota(strides, static_cast<std::int64_t>(random() % 100))
                                : make_array(t, extents, strides, random() % 2));
    if (!is_index) fill(c.leaves.back(), random);
    dtypes.push_back(t);
    index.push_back(is_index);
  }
  c.graph = random_graph(dtypes, index, 1 + static_cast<int>(random() % 20), outputs, random);
  for (const jit::Node& n : c.graph.nodes())
    if (n.op == Op::scalar) c.scalars.push_back(random_bits(n.dtype, random));
  for (int k = 0; k < outputs; ++k) {
    const DType t = c.graph[c.graph.outputs()[static_cast<std::size_t>(k)]].dtype;
    c.in_place.push_back(-1);
    // Over a leaf of the same dtype that no other output has and that is not broadcast.
    for (std::size_t l = 0; l < dtypes.size() && random() % 3 == 0; ++l) {
      bool fits = dtypes[l] == t && !index[l] && std::ranges::find(c.in_place, static_cast<int>(l)) == c.in_place.end();
      for (std::size_t d = 0; d < extents.size(); ++d) fits = fits && (c.leaves[l].strides[d] != 0 || extents[d] <= 1);
      if (fits) c.in_place.back() = static_cast<int>(l);
    }
    c.outputs.push_back(make_array(t, extents, random_strides(extents, true, random), random() % 2));
  }
  return c;
}

TEST(CpuTileProgram, RandomGraphsOnEverySizeAndStride) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  const std::vector<Extents> shapes = {
      {0},          {1},        {2},       {3},        {15},      {16},        {17},          {31},
      {32},         {33},       {63},      {64},       {65},      {127},       {128},         {129},
      {255},        {256},      {257},     {1023},     {1024},    {1025},      {4095},        {4097},
      {8191},       {8192},     {8193},    {65537},    {0, 3},    {3, 0},      {1, 1},        {7, 5},
      {3, 300},     {300, 3},   {33, 257}, {1000, 1},  {2, 3, 4}, {5, 1, 300}, {17, 2, 3, 5}, {2, 2, 2, 2, 2, 2, 2, 3},
      {4, 1025, 3}, {70, 2100}, {40, 8},   {9, 5, 16}, {100, 33}};
  EachIsa().run([&](Isa isa) {
    for (const Extents& extents : shapes)
      for (int round = 0; round < 9; ++round) {
        const Case c = random_case(extents, random);
        check(c, fmt::format("{} shape {} round {}", isa_name(isa), fmt::join(extents, "x"), round));
        if (testing::Test::HasFatalFailure()) return;
      }
  });
}

TEST(CpuTileProgram, LargeEnoughForThreads) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  for (const Extents& extents : {Extents{1'000'003}, Extents{1000, 1003}, Extents{200'001, 3}, Extents{3, 7, 40'001}})
    for (int round = 0; round < 4; ++round) {
      check(random_case(extents, random), fmt::format("shape {} round {}", fmt::join(extents, "x"), round));
      if (testing::Test::HasFatalFailure()) return;
    }
}

/// Arrays past the cache are fetched ahead.
TEST(CpuTileProgram, ArraysPastTheCache) {
  const Extents extents{1'000'003};
  Case c;
  c.extents = extents;
  Operand x = c.graph.leaf(DType::Float32, 0);
  const Operand both[] = {x, x}, sum = c.graph.node(Op::add, DType::Float32, both), again[] = {sum, x};
  c.graph.output(sum);
  c.graph.output(c.graph.node(Op::mul, DType::Float32, again));
  c.leaves.push_back(make_array(DType::Float32, extents, {1}));
  for (std::int64_t i = 0; i < extents[0]; ++i)
    write(DType::Float32, c.leaves[0].first() + 4 * i, to_bits(static_cast<float>(i % 1000)));
  for (int k = 0; k < 2; ++k) c.outputs.push_back(make_array(DType::Float32, extents, {1})), c.in_place.push_back(-1);
  check(c, "past the cache");
  for (std::int64_t i = 0; i < extents[0]; ++i) {
    const float v = static_cast<float>(i % 1000);
    ASSERT_EQ(as<float>(element(c.outputs[0], extents, i)), 2 * v);
    ASSERT_EQ(as<float>(element(c.outputs[1], extents, i)), 2 * v * v);
  }
}

/// Where neighbouring rows are neighbours in memory, some rows are packed together; outer dims cut these panels short.
TEST(CpuTileProgram, PanelsOfTransposedInputs) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  EachIsa().run([&](Isa isa) {
    for (const Extents& extents : {Extents{3, 20, 300}, Extents{2, 33, 257}, Extents{5, 16, 256}, Extents{300, 1000}})
      for (const DType t : all_dtypes)
        for (const std::int64_t direction : {1, -1}) {
          const std::size_t inner = extents.size() - 1;
          Extents strides = row_major(extents);
          strides[inner] = extents[inner - 1];
          strides[inner - 1] = direction;
          Case c;
          c.extents = extents;
          for (const Extents& s : {strides, row_major(extents)}) {
            c.leaves.push_back(make_array(t, extents, s));
            fill(c.leaves.back(), random);
          }
          const Operand both[] = {c.graph.leaf(t, 0), c.graph.leaf(t, 1)};
          for (const Op op : {Op::maximum, Op::eq}) {
            c.graph.output(c.graph.node(op, op == Op::eq ? DType::Bool : t, both));
            c.outputs.push_back(make_array(op == Op::eq ? DType::Bool : t, extents, row_major(extents)));
            c.in_place.push_back(-1);
          }
          check(c, fmt::format("{} {} {}", isa_name(isa), name(t), fmt::join(extents, "x")));
          if (testing::Test::HasFatalFailure()) return;
        }
  });
}

TEST(CpuTileProgram, OutputsThatNoStepMakes) {
  for (const Extents& strides : {Extents{1}, Extents{2}, Extents{-1}}) {
    Case c;
    c.extents = {77};
    const Operand leaf = c.graph.leaf(DType::Int32, 0), index = c.graph.iota(1),
                  scalar = c.graph.scalar(DType::Float64, Category::Float, 0);
    const Operand constant = c.graph.constant(DType::Bool, 1), uniform[] = {scalar},
                  sine = c.graph.node(Op::sin, DType::Float64, uniform);
    for (const Operand o : {leaf, index, scalar, constant, sine, leaf, sine}) {
      c.graph.output(o);
      c.outputs.push_back(make_array(c.graph[o].dtype, c.extents, strides));
      c.in_place.push_back(-1);
    }
    c.leaves.push_back(make_array(DType::Int32, c.extents, {1}));
    c.leaves.push_back(make_iota({3}));
    std::mt19937_64 random(1);
    fill(c.leaves[0], random);
    c.scalars = {to_bits(0.7)};
    check(c, fmt::format("stride {}", strides[0]));
  }
}

/// Everything is read before anything is written.
TEST(CpuTileProgram, ArraysChangePlaces) {
  for (const std::int64_t n : {1, 5, 1000, 5000}) {
    Case c;
    c.extents = {n};
    for (std::uint32_t k = 0; k < 2; ++k) {
      c.leaves.push_back(make_array(DType::Float64, c.extents, {1}));
      std::mt19937_64 random(k);
      fill(c.leaves.back(), random);
      c.outputs.push_back(make_array(DType::Float64, {1}, {1}));
    }
    const Operand x = c.graph.leaf(DType::Float64, 0), y = c.graph.leaf(DType::Float64, 1), both[] = {x, y};
    c.graph.output(y);
    c.graph.output(x);
    c.graph.output(c.graph.node(Op::add, DType::Float64, both));
    c.outputs.push_back(make_array(DType::Float64, c.extents, {1}));
    c.in_place = {0, 1, -1};
    check(c, fmt::format("{} elements", n));
  }
}

/// Chains, wide sums, and values that live long: nothing recurses, tiles are reused.
TEST(CpuTileProgram, ThousandsOfNodes) {
  const int nodes = 10'000;
  const Extents extents{1000};
  for (const bool wide : {false, true}) {
    Graph graph;
    std::vector<Operand> values{graph.leaf(DType::Float64, 0)};
    const Operand half = graph.constant(DType::Float64, to_bits(0.5));
    for (int i = 1; i < nodes; ++i) {
      const Operand in[] = {values[static_cast<std::size_t>(wide ? i / 2 : i - 1)], i % 3 == 0 ? values[0] : half};
      values.push_back(graph.node(i % 2 ? Op::mul : Op::add, DType::Float64, in));
    }
    Operand sum = values.back();
    if (wide)
      for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        const Operand in[] = {sum, values[i]};
        sum = graph.node(Op::maximum, DType::Float64, in);
      }
    Case c;
    c.graph = std::move(graph);
    c.graph.output(sum);
    c.extents = extents;
    c.leaves.push_back(make_array(DType::Float64, extents, {1}));
    for (std::int64_t i = 0; i < 1000; ++i)
      write(DType::Float64, c.leaves[0].first() + 8 * i, to_bits(static_cast<double>(i) / 1000));
    c.outputs.push_back(make_array(DType::Float64, extents, {1}));
    c.in_place = {-1};
    check(c, wide ? "wide" : "chain");
  }
}

TEST(CpuTileProgram, ThreadsShareAProgram) {
  Graph graph;
  const Operand x = graph.leaf(DType::Float32, 0), y = graph.leaf(DType::Float32, 1),
                s = graph.scalar(DType::Float32, Category::Float, 0);
  const Operand a[] = {x, s}, sum = graph.node(Op::add, DType::Float32, a), b[] = {sum},
                e = graph.node(Op::exp, DType::Float32, b), d[] = {e, y};
  graph.output(graph.node(Op::mul, DType::Float32, d));
  const TileProgram program(graph);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 30; ++round) {
        const std::int64_t n = round % 10 == 9 ? 200'000 : 1 + (round * 397 + t * 131) % 5000;
        std::vector<float> in(static_cast<std::size_t>(n)), factor(in.size()), out(in.size());
        for (std::size_t i = 0; i < in.size(); ++i)
          in[i] = static_cast<float>(i % 100) / 50, factor[i] = static_cast<float>(t + 1);
        LoopNest nest;
        nest.numel = nest.extents[0] = n;
        for (std::vector<float>* v : {&out, &in, &factor})
          nest.operands.push_back({reinterpret_cast<std::byte*>(v->data()), {round % 7 == 0 && v == &factor ? 0 : 1}});
        const Bits scalar = to_bits(static_cast<float>(round) / 10);
        program.run(nest, {&scalar, 1});
        for (std::size_t i = 0; i < in.size(); ++i) {
          const double expected = std::exp(static_cast<double>(in[i]) + round / 10.0) * (t + 1);
          wrong += std::fabs(static_cast<double>(out[i]) - expected) > 1e-5 * expected;
        }
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace sinter::test
