// Chains: operations that read what is kept in the chain's own blocks, squares, lengths around the blocks'.
#include <jit/cpu/chain.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include <jit/cpu/steps.hpp>
#include "cpu_kernels.hpp"

namespace sinter::test {
namespace {

using jit::cpu::ChainOpcode;

template <class T>
constexpr DType dtype_of = sizeof(T) == 4 ? DType::Float32 : DType::Float64;

/// Runs a graph of one array over x[i] = i / 7 - 5, which is mostly rounded, and compares with f(x[i]).
template <class T, class F>
void check(const Graph& graph, std::int64_t n, F f, const std::string& what) {
  const std::vector<std::int64_t> extents{n};
  Array x = make_array(dtype_of<T>, extents, {1}), out = make_array(dtype_of<T>, extents, {1});
  const auto value = [](std::int64_t i) { return static_cast<T>(i) / 7 - 5; };
  for (std::int64_t i = 0; i < n; ++i)
    write(dtype_of<T>, x.memory.data() + i * static_cast<std::int64_t>(sizeof(T)), to_bits(value(i)));
  TileProgram(graph).run(make_nest(extents, {&out, &x}, 1), {});
  for (std::int64_t i = 0; i < n; ++i)
    ASSERT_EQ(as<T>(element(out, extents, i)), f(value(i))) << what << ", element " << i << " of " << n;
}

template <class F>
void for_lengths(F f) {
  EachIsa().run([&](Isa isa) {
    for (std::int64_t n = 1; n <= 300; ++n) f(n, std::string(isa_name(isa)));
    f(1025, std::string(isa_name(isa)));
    f(5000, std::string(isa_name(isa)));
  });
}

/// Sums of x + k for k = 0, 1, ... that are all alive before the first is read again.
template <class T>
void check_kept(int values) {
  Graph graph;
  const DType t = dtype_of<T>;
  const auto node = [&](Op op, Operand a, Operand b) {
    const Operand both[] = {a, b};
    return graph.node(op, t, both);
  };
  const Operand x = graph.leaf(t, 0);
  std::vector<Operand> kept{x};
  for (int k = 1; k <= values; ++k)
    kept.push_back(node(Op::add, kept.back(), graph.constant(t, to_bits(static_cast<T>(k)))));
  Operand sum = kept.back();
  for (const Operand v : kept) sum = node(Op::sub, v, sum);
  graph.output(sum);
  for_lengths([&](std::int64_t n, const std::string& isa) {
    const auto expected = [&](T v) {
      std::vector<T> all{v};
      for (int k = 1; k <= values; ++k) all.push_back(all.back() + static_cast<T>(k));
      T s = all.back();
      for (const T a : all) s = a - s;
      return s;
    };
    check<T>(graph, n, expected, isa + fmt::format(", {} values kept", values));
  });
}

TEST(CpuChain, KeptValues) {
  for (const int values : {1, 2, 5, 15}) {
    check_kept<float>(values);
    check_kept<double>(values);
  }
}

/// sqrt((x - 1)^2 + (x - 2)^2) by a multiplication and a multiply-add, each of a value with itself.
Graph distance() {
  Graph graph;
  const Operand x = graph.leaf(DType::Float32, 0);
  const auto less = [&](float k) {
    const Operand both[] = {x, graph.constant(DType::Float32, to_bits(k))};
    return graph.node(Op::sub, DType::Float32, both);
  };
  const Operand a = less(1), b = less(2), aa[] = {a, a}, bb[] = {b, b, graph.node(Op::mul, DType::Float32, aa)},
                sum[] = {graph.node(Op::fma, DType::Float32, bb)};
  graph.output(graph.node(Op::sqrt, DType::Float32, sum));
  return graph;
}

TEST(CpuChain, SquaresAreReadFromTheAccumulator) {
  const Graph graph = distance();
  for_lengths([&](std::int64_t n, const std::string& isa) {
    check<float>(graph, n, [](float x) { return std::sqrt(std::fma(x - 2, x - 2, (x - 1) * (x - 1))); }, isa);
  });
  const jit::cpu::Steps steps = jit::cpu::make_steps(graph, {});
  ASSERT_EQ(steps.chains.size(), 1u);
  EXPECT_EQ(steps.chains[0].blocks, 1u);  // one square waits, the differences do not
  const auto count = [&](ChainOpcode op) {
    return std::ranges::count_if(steps.chains[0].code,
                                 [&](const jit::cpu::ChainInstruction& m) { return m.code == op; });
  };
  EXPECT_EQ(count(ChainOpcode::square), 1);
  EXPECT_EQ(count(ChainOpcode::square_add), 1);
  EXPECT_EQ(steps.chains[0].code.back().code, ChainOpcode::end_block);
}

/// (x + y) * x rounded to 16 bits, and what is left of that when y is taken away, in both formats.
template <class H>
Graph sixteen_bits() {
  Graph graph;
  constexpr DType h = sinter::dtype_of<H>, f = DType::Float32;
  const auto node = [&](Op op, DType t, std::initializer_list<Operand> operands) {
    return graph.node(op, t, std::vector<Operand>(operands));
  };
  const Operand x = node(Op::cast, f, {graph.leaf(h, 0)}), y = node(Op::cast, f, {graph.leaf(h, 1)});
  const Operand rounded = node(Op::cast, h, {node(Op::mul, f, {node(Op::add, f, {x, y}), x})});
  const Operand rest = node(Op::sub, f, {node(Op::cast, f, {rounded}), y});
  for (const Operand o : {rounded, rest, node(Op::cast, h, {rest})}) graph.output(o);
  return graph;
}

template <class H>
void check_sixteen_bits(const Graph& graph, std::int64_t n, const std::string& isa) {
  constexpr DType h = sinter::dtype_of<H>;
  const std::vector<std::int64_t> extents{n};
  Array x = make_array(h, extents, {1}), y = make_array(h, extents, {1}), rounded = make_array(h, extents, {1}),
        rest = make_array(DType::Float32, extents, {1}), last = make_array(h, extents, {1});
  const auto bits = [](std::int64_t i, std::int64_t by) { return static_cast<std::uint16_t>(i * by); };
  for (std::int64_t i = 0; i < n; ++i) {
    write(h, x.memory.data() + 2 * i, bits(i, 1));
    write(h, y.memory.data() + 2 * i, bits(i, 40503));
  }
  TileProgram(graph).run(make_nest(extents, {&rounded, &rest, &last, &x, &y}, 3), {});
  const auto same = [](float a, float b) { return a == b ? std::signbit(a) == std::signbit(b) : a != a && b != b; };
  for (std::int64_t i = 0; i < n; ++i) {
    const float a = H::from_bits(bits(i, 1)), b = H::from_bits(bits(i, 40503));
    const H r((a + b) * a);
    const float left = static_cast<float>(r) - b;
    const auto found = [&](const Array& array) {
      return H::from_bits(static_cast<std::uint16_t>(element(array, extents, i)));
    };
    ASSERT_TRUE(same(found(rounded), r)) << isa << ' ' << i << " of " << n;
    ASSERT_TRUE(same(as<float>(element(rest, extents, i)), left)) << isa << ' ' << i << " of " << n;
    ASSERT_TRUE(same(found(last), H(left))) << isa << ' ' << i << " of " << n;
  }
}

TEST(CpuChain, SixteenBitFloatsConvertOnTheWay) {
  const auto check_format = [&]<class H>(std::type_identity<H>) {
    const Graph graph = sixteen_bits<H>();
    const jit::cpu::Steps steps = jit::cpu::make_steps(graph, {});
    EXPECT_EQ(steps.tiles.size(), 1u);
    EXPECT_EQ(steps.chains.size(), 1u);
    for_lengths([&](std::int64_t n, const std::string& isa) { check_sixteen_bits<H>(graph, n, isa); });
    EachIsa().run([&](Isa isa) { check_sixteen_bits<H>(graph, 65536, std::string(isa_name(isa))); });
  };
  check_format(std::type_identity<half>());
  check_format(std::type_identity<bfloat16>());
}

/// A chain's own blocks stay where they are: the tile behind them holds a value that is read after the chain.
TEST(CpuChain, OwnBlocksLeaveOtherTilesAlone) {
  Graph graph;
  const auto node = [&](Op op, std::initializer_list<Operand> operands) {
    return graph.node(op, DType::Float32, std::vector<Operand>(operands));
  };
  const Operand x = graph.leaf(DType::Float32, 0), one = graph.constant(DType::Float32, to_bits(1.f));
  Operand before = x;  // by operations that no chain has, and more of them, so that they come first
  for (int k = 0; k < 6; ++k) before = node(k % 2 ? Op::ceil : Op::floor, {before});
  const Operand a = node(Op::sub, {x, one}), b = node(Op::add, {x, one}), c = node(Op::mul, {a, b});
  graph.output(node(Op::fmax, {before, node(Op::div, {c, node(Op::sub, {a, b})})}));
  for_lengths([&](std::int64_t n, const std::string& isa) {
    const auto f = [](float v) {
      const float low = v - 1, high = v + 1;
      return std::fmax(std::floor(v), low * high / (low - high));
    };
    check<float>(graph, n, f, isa);
  });
}

/// v * v + v needs v twice: from the accumulator and from where it is kept.
TEST(CpuChain, SquareThatIsAddedToItself) {
  Graph graph;
  const Operand x = graph.leaf(DType::Float32, 0), twice[] = {x, x}, v = graph.node(Op::add, DType::Float32, twice),
                all[] = {v, v, v}, w = graph.node(Op::fma, DType::Float32, all), both[] = {w, w};
  graph.output(graph.node(Op::mul, DType::Float32, both));
  for_lengths([&](std::int64_t n, const std::string& isa) {
    const auto f = [](float a) {
      const float doubled = a + a, sum = std::fma(doubled, doubled, doubled);
      return sum * sum;
    };
    check<float>(graph, n, f, isa);
  });
}

}  // namespace
}  // namespace sinter::test
