// Short rows on the CPU, many of which form a row of tiles: those that indices select are copied, and what is the same
// along each of them is computed once and repeated.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <iterator>
#include <jit/cpu/layout.hpp>
#include <random>
#include <vector>

#include "cpu_kernels.hpp"

namespace sinter::test::short_rows {
namespace {

constexpr int most_dims = 4;
constexpr std::int64_t table_rows = 37, row_gap = 3;
constexpr int outputs = 6;
constexpr std::size_t output_sizes[outputs] = {4, 8, 4, 16, 8, 4};

enum Leaf : std::uint32_t { column, wide_column, flag, ids, elements, position, table, leaf_count };

/// Values with one element for each row: of 4 bytes, 16 and 1; positions, whose rows are gathered.
Graph program(bool has_iota, bool has_ids, std::int64_t extent) {
  Graph g;
  const auto call = [&](Op op, DType t, std::vector<Operand> operands) { return g.node(op, t, operands); };
  const Operand c = g.leaf(DType::Float32, column), z = g.leaf(DType::Complex128, wide_column);
  const Operand b = g.leaf(DType::Bool, flag), x = g.leaf(DType::Float64, elements);
  const Operand p = has_iota ? g.iota(position) : g.leaf(DType::Int64, position);
  const Operand bound = g.constant(DType::Int64, table_rows),
                step = g.constant(DType::Int64, static_cast<Bits>(extent));
  const Operand start = has_ids ? call(Op::axis_offset, DType::Int64, {g.leaf(DType::Int64, ids), bound, step}) : step;
  const Operand row = g.load(g.array(DType::Float32, table), call(Op::add, DType::Int64, {start, p}));
  const Operand wave = call(Op::exp, DType::Float32, {c}), part = call(Op::real, DType::Float64, {z});
  const Operand chosen = call(Op::where, DType::Float32, {b, row, wave});
  g.output(call(Op::mul, DType::Float32, {chosen, wave}));
  g.output(call(Op::fma, DType::Float64, {x, part, g.cast(row, DType::Float64)}));
  g.output(wave);                                                       // a result of each row
  g.output(z);                                                          // a leaf
  g.output(call(Op::sub, DType::Int64, {p, g.cast(b, DType::Int64)}));  // positions that are no offset
  g.output(row);
  return g;
}

struct Dims {
  int count = 1;
  std::int64_t extents[most_dims] = {}, numel = 1;

  std::int64_t offset(const std::vector<std::int64_t>& strides, std::int64_t element) const {
    std::int64_t at = 0;
    for (int d = count; d-- > 0; element /= extents[d])
      at += element % extents[d] * strides[static_cast<std::size_t>(d)];
    return at;
  }
  /// Of an operand that differs along some dims only: adjacent, or with gaps after a dim.
  template <class Random>
  std::vector<std::int64_t> strides(const std::vector<bool>& along, bool has_gaps, Random& random) const {
    std::vector<std::int64_t> of(static_cast<std::size_t>(count));
    std::int64_t step = 1;
    for (int d = count; d-- > 0;) {
      if (!along[static_cast<std::size_t>(d)]) continue;
      of[static_cast<std::size_t>(d)] = step;
      step *= extents[d];
      if (has_gaps && random() % 3 == 0) step += 1 + static_cast<std::int64_t>(random() % 3);
    }
    return of;
  }
};

/// An operand of the nest under test, and the same elements expanded to all of the shape.
class Operands {
 public:
  explicit Operands(const Dims& dims) : dims_(dims) {
    for (LoopNest* nest : {&merged, &plain}) nest->outputs = outputs, nest->numel = dims.numel;
    merged.ndim = dims.count;
    std::copy_n(dims.extents, dims.count, merged.extents);
    plain.extents[0] = dims.numel;
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  template <class T, class F>
  void add(const std::vector<std::int64_t>& strides, F value) {
    std::vector<T> few(static_cast<std::size_t>(dims_.offset(strides, dims_.numel - 1)) + 1);
    for (T& v : few) v = value();
    std::vector<T> all;
    for (std::int64_t i = 0; i < dims_.numel; ++i)
      all.push_back(few[static_cast<std::size_t>(dims_.offset(strides, i))]);
    put(merged, keep(few), strides);
    put(plain, keep(all), {1});
  }
  void add_index(const std::vector<std::int64_t>& strides, std::int64_t first) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < dims_.numel; ++i) all.push_back(first + dims_.offset(strides, i));
    put(merged, nullptr, strides);
    merged.operands.back().first = first;
    put(plain, keep(all), {1});
  }
  template <class T>
  void add_table(const std::vector<T>& elements) {
    put(merged, keep(elements), std::vector<std::int64_t>(static_cast<std::size_t>(dims_.count)));
    put(plain, merged.operands.back().data, {0});
  }
  void add_output(std::size_t size, const std::vector<std::int64_t>& strides) {
    const auto last = static_cast<std::size_t>(dims_.offset(strides, dims_.numel - 1));
    put(merged, keep(std::vector<char>((last + 1) * size)), strides);
    put(plain, keep(std::vector<char>(static_cast<std::size_t>(dims_.numel) * size)), {1});
  }
  bool are_equal(std::size_t output, std::size_t size) const {
    const auto& o = merged.operands[output];
    const std::vector<std::int64_t> strides(o.strides, o.strides + dims_.count);
    for (std::int64_t i = 0; i < dims_.numel; ++i) {
      const std::int64_t offset = dims_.offset(strides, i);
      if (std::memcmp(o.data + static_cast<std::size_t>(offset) * size,
                      plain.operands[output].data + static_cast<std::size_t>(i) * size, size) != 0)
        return false;
    }
    return true;
  }

  LoopNest merged, plain;

 private:
  template <class T>
  std::byte* keep(const std::vector<T>& elements) {
    memory_.emplace_back(elements.size() * sizeof(T));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const T element = elements[i];
      std::memcpy(memory_.back().data() + i * sizeof(T), &element, sizeof(T));
    }
    return memory_.back().data();
  }
  static void put(LoopNest& nest, std::byte* data, const std::vector<std::int64_t>& strides) {
    nest.operands.push_back({data, {}, 0});
    std::ranges::copy(strides, nest.operands.back().strides);
  }

  const Dims& dims_;
  std::vector<GuardedBytes> memory_;
};

/// Rows of a table, 1 to 3 dims of them, and columns that differ along the other dims, or some of these.
template <class Random>
void add_leaves(Operands& to, const Dims& dims, int first_row_dim, bool has_gaps, std::int64_t row, Random& random) {
  const auto count = static_cast<std::size_t>(dims.count);
  std::vector<bool> whole(count, true), of_row(count);
  for (int d = first_row_dim; d < dims.count; ++d) of_row[static_cast<std::size_t>(d)] = true;
  const auto some_dims = [&](int end) {
    std::vector<bool> some(count);
    for (int d = 0; d < end; ++d) some[static_cast<std::size_t>(d)] = random() % 5 != 0;
    return some;
  };
  const auto strides = [&](const std::vector<bool>& along) { return dims.strides(along, has_gaps, random); };
  const auto number = [&] { return static_cast<double>(random() % 1000) / 250 - 2; };
  to.add<float>(strides(some_dims(dims.count - 1)), [&] { return static_cast<float>(number()); });
  to.add<std::complex<double>>(strides(some_dims(dims.count - 1)), [&] { return std::complex(number(), number()); });
  to.add<char>(strides(some_dims(dims.count - 1)), [&] { return random() % 2 ? static_cast<char>(random()) : '\0'; });
  to.add<std::int64_t>(strides(some_dims(first_row_dim)),
                       [&] { return static_cast<std::int64_t>(random() % (2 * table_rows)) - table_rows; });
  std::vector<bool> last = whole;  // the last dims: repeated
  for (std::size_t d = 0, first = random() % 3 == 0 ? random() % count : 0; d < first; ++d) last[d] = false;
  to.add<double>(strides(last), number);
  to.add_index(dims.strides(of_row, false, random), static_cast<std::int64_t>(random() % 2));
  std::vector<float> all(static_cast<std::size_t>(table_rows * row));
  for (float& v : all) v = static_cast<float>(number());
  to.add_table(all);
}

TEST(CpuShortRows, AsIfOperandsWereExpanded) {
  constexpr std::int64_t short_rows[] = {2, 3, 4, 5, 7, 8, 16, 17, 31, 64, 100, 127};
  std::mt19937 random(seed_of_tests());
  EachIsa isas;
  isas.run([&](Isa) {
    for (int round = 0; round < 100; ++round) {
      SCOPED_TRACE(fmt::format("round {} of seed {}", round, seed_of_tests()));
      Dims dims{.count = 2 + static_cast<int>(random() % 3)};
      for (int d = dims.count; d-- > 0;) {
        const std::int64_t most = std::max<std::int64_t>(9000 / dims.numel / (d > 0 ? 4 : 1), 2);
        dims.extents[d] = d == dims.count - 1 ? short_rows[random() % std::size(short_rows)]
                                              : 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
        dims.numel *= dims.extents[d];
      }
      const int first_row_dim = 1 + static_cast<int>(random() % static_cast<unsigned>(dims.count - 1));
      std::int64_t row = row_gap;
      for (std::int64_t n = 1, d = first_row_dim; d < dims.count; ++d) row = (n *= dims.extents[d]) + row_gap;
      Operands operands(dims);
      const bool has_gaps = random() % 2;
      const std::vector<bool> whole(static_cast<std::size_t>(dims.count), true);
      for (const std::size_t size : output_sizes)
        operands.add_output(size, dims.strides(whole, has_gaps && random() % 2, random));
      add_leaves(operands, dims, first_row_dim, has_gaps, row, random);
      const bool has_ids = random() % 8 != 0;
      const TileProgram merged(program(true, has_ids, row)), plain(program(false, has_ids, row));
      ASSERT_FALSE(merged.run(operands.merged, {}).any());
      ASSERT_FALSE(plain.run(operands.plain, {}).any());
      for (std::size_t k = 0; k < outputs; ++k) ASSERT_TRUE(operands.are_equal(k, output_sizes[k])) << "output " << k;
    }
  });
}

TEST(CpuShortRows, AreTheLongestThatManyElementsAreTheSameAlong) {
  std::byte memory{};
  const auto short_row = [&](std::vector<std::int64_t> extents, std::vector<std::vector<std::int64_t>> strides) {
    LoopNest nest;
    nest.ndim = static_cast<int>(extents.size());
    for (int d = nest.ndim; d-- > 0;) nest.numel *= nest.extents[d] = extents[static_cast<std::size_t>(d)];
    for (const auto& s : strides) {  // the result, arrays, an index
      nest.operands.push_back({&s == &strides.back() ? nullptr : &memory, {}, 0});
      std::ranges::copy(s, nest.operands.back().strides);
    }
    jit::cpu::TileLayout layout;
    make_layout(layout, nest, jit::cpu::shortest_rows);
    EXPECT_EQ(layout.short_row > 1, layout.leaves.per_short_row);
    return layout.short_row;
  };
  EXPECT_EQ(short_row({300, 16}, {{16, 1}, {1, 0}, {16, 1}}), 16);
  EXPECT_EQ(short_row({300, 16, 3}, {{48, 3, 1}, {0, 0, 1}, {1, 0, 0}, {0, 3, 1}}), 48);   // rows of matrices
  EXPECT_EQ(short_row({300, 16, 3}, {{48, 3, 1}, {0, 1, 0}, {1, 0, 0}, {0, 3, 1}}), 48);   // beside rows of 3
  EXPECT_EQ(short_row({30, 9, 16}, {{144, 16, 1}, {1, 0, 0}, {0, 16, 1}}), 1);             // no shorter than the rows
  EXPECT_EQ(short_row({30, 9, 16}, {{144, 16, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}), 16);  // in rows of 144
  EXPECT_EQ(short_row({30, 6, 16}, {{96, 16, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}), 16);
  EXPECT_EQ(short_row({300, 7}, {{7, 1}, {1, 0}, {7, 1}}), 1);
  EXPECT_EQ(short_row({300, 16}, {{16, 1}, {16, 1}, {16, 1}}), 1);
}

TEST(CpuShortRows, AnIndexOutOfRange) {
  constexpr std::int64_t rows = 300, length = 16;
  const Dims dims{.count = 2, .extents = {rows, length}, .numel = rows * length};
  std::mt19937 random(seed_of_tests());
  for (const std::int64_t bad : {std::int64_t{0}, rows / 2, rows - 1}) {
    Operands operands(dims);
    for (const std::size_t size : output_sizes) operands.add_output(size, {length, 1});
    add_leaves(operands, dims, 1, false, length + row_gap, random);
    auto& positions = operands.merged.operands[static_cast<std::size_t>(outputs) + ids];
    positions.strides[0] = 1;
    std::vector<std::int64_t> some(rows, 5);
    some[static_cast<std::size_t>(bad)] = table_rows;
    positions.data = reinterpret_cast<std::byte*>(some.data());
    const jit::RunFaults faults = TileProgram(program(true, true, length + row_gap)).run(operands.merged, {});
    EXPECT_TRUE(faults.index_out_of_range);
    EXPECT_FALSE(faults.division_by_zero);
    EXPECT_EQ(faults.value, table_rows);
    EXPECT_EQ(faults.extent, table_rows);
  }
}

}  // namespace
}  // namespace sinter::test::short_rows
