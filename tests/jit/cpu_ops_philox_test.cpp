// Random numbers on the CPU against Philox as published, on every instruction set.
#include <gtest/gtest.h>

#include "cpu_kernels.hpp"

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
    const Operand counter = graph.leaf(DType::Int64, 0), key = graph.leaf(DType::Int64, 1), both[] = {counter, key};
    const Operand below[] = {counter, key, graph.leaf(DType::Int64, 2)};
    graph.output(graph.node(Op::random_uniform, DType::Float32, both));
    graph.output(graph.node(Op::random_uniform_double, DType::Float64, both));
    graph.output(graph.node(Op::random_below, DType::Int64, below));
    std::vector<std::uint64_t> a{0, ~0ull, 0x85a308d3243f6a88}, b{0, ~0ull, 0x299f31d0a4093822},
        c{1ull << 32, 7, ~0ull >> 1}, whole(3);
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
    for (std::size_t i = 0; i < 3; ++i) {
      const Four w = published_philox({static_cast<std::uint32_t>(a[i]), static_cast<std::uint32_t>(a[i] >> 32), 0, 0},
                                      {static_cast<std::uint32_t>(b[i]), static_cast<std::uint32_t>(b[i] >> 32)});
      const std::uint64_t joined = w[0] | std::uint64_t{w[1]} << 32;
      __extension__ using Wide = unsigned __int128;
      EXPECT_EQ(single[i], static_cast<float>(w[0] >> 8) * 0x1p-24f);
      EXPECT_EQ(real[i], static_cast<double>(joined >> 11) * 0x1p-53);
      EXPECT_EQ(whole[i], static_cast<std::uint64_t>(static_cast<Wide>(joined) * c[i] >> 64));
    }
  });
}

}  // namespace
}  // namespace sinter::test
