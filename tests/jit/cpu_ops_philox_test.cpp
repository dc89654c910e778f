// Random numbers on the CPU against Philox as published, on every instruction set.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "closeness.hpp"
#include "cpu_kernels.hpp"
#include "reference.hpp"

namespace sinter::test {
namespace {

using Four = std::array<std::uint32_t, 4>;

/// Philox4x32-10 as published, with all four words of the counter.
Four published_philox(Four c, std::array<std::uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = std::uint64_t{0xD2511F53} * c[0], q = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(q >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(q),
         static_cast<std::uint32_t>(p >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p)};
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c;
}

/// The vectors for philox4x32-10 in the Random123 library's kat_vectors.
TEST(CpuOpsPhilox, AsPublished) {
  const std::uint32_t f = 0xffffffff;
  EXPECT_EQ(published_philox({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(published_philox({f, f, f, f}, {f, f}), (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(published_philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  EachIsa isas;
  isas.run([&](Isa) {
    Graph graph;
    const Operand index = graph.leaf(DType::Int64, 0), draw = graph.leaf(DType::Int64, 1),
                  seed = graph.leaf(DType::Int64, 2), all[] = {index, draw, seed};
    graph.output(graph.node(Op::random_uniform, DType::Float32, all));
    graph.output(graph.node(Op::random_uniform_double, DType::Float64, all));
    graph.output(graph.node(Op::random_bits, DType::Int64, all));
    std::vector<std::uint64_t> a{0, ~0ull, 0x85a308d3243f6a88}, b{0, ~0ull, 0x0370734413198a2e},
        c{0, ~0ull, 0x299f31d0a4093822}, whole(3);
    std::vector<float> single(3);
    std::vector<double> real(3);
    LoopNest nest;
    nest.outputs = 3;
    nest.numel = nest.extents[0] = 3;
    for (void* p :
         {static_cast<void*>(single.data()), static_cast<void*>(real.data()), static_cast<void*>(whole.data()),
          static_cast<void*>(a.data()), static_cast<void*>(b.data()), static_cast<void*>(c.data())})
      nest.operands.push_back({static_cast<std::byte*>(p), {1}});
    TileProgram(graph).run(nest, {});
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    for (std::size_t i = 0; i < 3; ++i) {
      const auto words = [&](std::uint64_t group) {
        return published_philox({low(group), low(group >> 32), low(b[i]), low(b[i] >> 32)},
                                {low(c[i]), low(c[i] >> 32)});
      };
      const Four w = words(a[i] / 2 | 1ull << 63);
      const std::uint64_t joined = w[a[i] % 2 * 2] | std::uint64_t{w[a[i] % 2 * 2 + 1]} << 32;
      EXPECT_EQ(single[i], static_cast<float>(words(a[i] / 4)[a[i] % 4] >> 8) * 0x1p-24f);
      EXPECT_EQ(real[i], static_cast<double>(joined >> 11) * 0x1p-53);
      EXPECT_EQ(whole[i], joined);
    }
  });
}

/// Runs of adjacent indices, which share counters, and jumps between them; draws and seeds that differ or are the same
/// for all: a number depends on its own index, draw and seed alone.
TEST(CpuOpsPhilox, AnyIndices) {
  constexpr Op ops[] = {Op::random_uniform, Op::random_uniform_double, Op::random_normal, Op::random_normal_double,
                        Op::random_bits};
  std::mt19937_64 random(seed_of_tests());
  EachIsa isas;
  isas.run([&](Isa) {
    for (const Op op : ops)
      for (const std::size_t n : {1, 2, 7, 31, 64, 129, 1000})
        for (unsigned uniform = 0; uniform < 7; ++uniform) {  // one bit for each operand
          std::vector<std::uint64_t> in[3], made(n);
          for (std::vector<std::uint64_t>& v : in) v.resize(n);
          for (std::size_t i = 0; i < n; ++i) {
            in[0][i] = i == 0 || random() % 100 == 0 ? random() >> 1 >> random() % 63 : in[0][i - 1] + 1;
            for (std::size_t k = 1; k < 3; ++k) in[k][i] = random();
          }
          const bool is_float = op == Op::random_uniform || op == Op::random_normal;
          Graph graph;
          const Operand operands[] = {graph.leaf(DType::Int64, 0), graph.leaf(DType::Int64, 1),
                                      graph.leaf(DType::Int64, 2)};
          graph.output(graph.node(op,
                                  is_float                ? DType::Float32
                                  : op == Op::random_bits ? DType::Int64
                                                          : DType::Float64,
                                  operands));
          LoopNest nest;
          nest.outputs = 1;
          nest.numel = nest.extents[0] = static_cast<std::int64_t>(n);
          nest.operands.push_back({reinterpret_cast<std::byte*>(made.data()), {1}});
          for (unsigned k = 0; k < 3; ++k)
            nest.operands.push_back({reinterpret_cast<std::byte*>(in[k].data()), {uniform >> k & 1 ? 0 : 1}});
          TileProgram(graph).run(nest, {});
          for (std::size_t i = 0; i < n; ++i) {
            const auto operand = [&](unsigned k) { return in[k][uniform >> k & 1 ? 0 : i]; };
            const std::uint64_t expected = random_value(op, operand(0), operand(1), operand(2));
            std::uint64_t got = made[i];
            if (is_float) got = made[i / 2] >> i % 2 * 32 & 0xFFFFFFFF;
            ASSERT_TRUE(
                close(op, is_float ? DType::Float32 : DType::Float64, {operand(0)}, DType::Int64, expected, got))
                << name(op) << " of " << operand(0) << ", " << operand(1) << ", " << operand(2) << ": element " << i
                << " of " << n << ", seed of the test " << seed_of_tests();
          }
        }
  });
}

}  // namespace
}  // namespace sinter::test
