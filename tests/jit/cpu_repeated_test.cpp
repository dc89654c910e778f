// Operands of the CPU that repeat: rows merge, and a tile of a multiple of their periods serves the whole run.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <vector>

#include "cpu_kernels.hpp"

namespace sinter::test {
namespace {

constexpr int most_dims = 4;

/// The dims that an operand differs along.
struct RepeatedDims {
  bool along[most_dims] = {};
};

struct RepeatedCase {
  int ndim;
  std::int64_t extents[most_dims], numel = 1;

  /// Row-major over the operand's own dims.
  std::vector<std::int64_t> strides(const RepeatedDims& p) const {
    std::vector<std::int64_t> of(static_cast<std::size_t>(ndim));
    std::int64_t step = 1;
    for (int d = ndim; d-- > 0;) {
      if (!p.along[d]) continue;
      of[static_cast<std::size_t>(d)] = step;
      step *= extents[d];
    }
    return of;
  }
  std::int64_t offset(const std::vector<std::int64_t>& of, std::int64_t element) const {
    std::int64_t at = 0;
    for (int d = ndim; d-- > 0; element /= extents[d]) at += element % extents[d] * of[static_cast<std::size_t>(d)];
    return at;
  }
};

/// sin(x * y) + z, and w less a position.
Graph repeated_program(bool has_iota) {
  Graph g;
  const auto leaf = [&](std::uint32_t k) { return g.leaf(DType::Float64, k); };
  const Operand product[] = {leaf(0), leaf(1)}, wave[] = {g.node(Op::mul, DType::Float64, product)};
  const Operand sum[] = {g.node(Op::sin, DType::Float64, wave), leaf(2)};
  g.output(g.node(Op::add, DType::Float64, sum));
  const Operand count[] = {leaf(3), g.cast(has_iota ? g.iota(4) : g.leaf(DType::Int64, 4), DType::Float64)};
  g.output(g.node(Op::sub, DType::Float64, count));
  return g;
}

TEST(CpuRepeated, AsIfTheyWereExpanded) {
  constexpr std::int64_t extents[] = {2, 3, 5, 16, 17, 31, 64, 100, 129, 200, 255, 300};
  constexpr std::int64_t first = 1000;
  std::mt19937 random(seed_of_tests());
  const Graph graph = repeated_program(true), expanded = repeated_program(false);
  EachIsa isas;
  isas.run([&](Isa) {
    const TileProgram merged(graph), plain(expanded);
    for (int round = 0; round < 60; ++round) {
      RepeatedCase c{.ndim = 2 + static_cast<int>(random() % 3), .extents = {}};
      for (int d = c.ndim; d-- > 0;) {
        c.extents[d] = extents[random() % (c.numel > 500 ? 3 : std::size(extents))];
        c.numel *= c.extents[d];
      }
      const auto n = static_cast<std::size_t>(c.numel);
      std::vector<std::vector<double>> arrays(4), wide(4, std::vector<double>(n));
      std::vector<std::int64_t> positions(n);
      std::vector<double> results[4];
      LoopNest nest, line;
      nest.outputs = line.outputs = 2;
      nest.ndim = c.ndim;
      std::copy_n(c.extents, c.ndim, nest.extents);
      nest.numel = line.numel = line.extents[0] = c.numel;
      const auto add = [&](std::byte* data, const std::vector<std::int64_t>& strides) {
        auto& o = nest.operands.emplace_back();
        o.data = data;
        std::ranges::copy(strides, o.strides);
        return &o;
      };
      const RepeatedDims whole{{true, true, true, true}};
      for (int k = 0; k < 4; ++k) results[k].resize(n);
      for (int k = 0; k < 2; ++k) {
        add(reinterpret_cast<std::byte*>(results[k].data()), c.strides(whole));
        line.operands.push_back({reinterpret_cast<std::byte*>(results[k + 2].data()), {1}});
      }
      for (int k = 0; k < 5; ++k) {
        RepeatedDims p;  // the last dims, seldom others
        const int from = static_cast<int>(random() % static_cast<unsigned>(c.ndim + 1));
        for (int d = 0; d < c.ndim; ++d) p.along[d] = random() % 12 == 0 ? random() % 2 : d >= from;
        const std::vector<std::int64_t> strides = c.strides(p);
        if (k == 4) {
          add(nullptr, strides)->first = first;
          for (std::int64_t i = 0; i < c.numel; ++i)
            positions[static_cast<std::size_t>(i)] = first + c.offset(strides, i);
          line.operands.push_back({reinterpret_cast<std::byte*>(positions.data()), {1}});
          continue;
        }
        const auto place = static_cast<std::size_t>(k);
        for (std::int64_t i = 0; i < c.numel; ++i) {
          const auto at = static_cast<std::size_t>(c.offset(strides, i));
          while (arrays[place].size() <= at) arrays[place].push_back(static_cast<double>(random() % 1000) / 250 - 2);
          wide[place][static_cast<std::size_t>(i)] = arrays[place][at];
        }
        add(reinterpret_cast<std::byte*>(arrays[place].data()), strides);
        line.operands.push_back({reinterpret_cast<std::byte*>(wide[place].data()), {1}});
      }
      merged.run(nest, {});
      plain.run(line, {});
      for (int k = 0; k < 2; ++k)
        ASSERT_EQ(results[k], results[k + 2])
            << "output " << k << " of round " << round << " of seed " << seed_of_tests();
    }
  });
}

}  // namespace
}  // namespace sinter::test
