// Lowered kernels that reduce, executed by the interpreter of the loop IR under every scheme, against the reference in
// plain C++.
#include <jit/loops/lower.hpp>

#include <gtest/gtest.h>

#include "cpu_row_kernels.hpp"
#include "loops_launch.hpp"
#include "row_kernels.hpp"

namespace sinter::testing {
namespace {

using test::Array;
using test::Extents;
using test::fill;
using test::RowCase;
using test::RowReference;

std::size_t bytes_of(const Array& a) { return a.index ? 0 : static_cast<std::size_t>(a.extent) * size_of(a.dtype); }

/// Rows and columns, and where elements are: rows side by side, or columns.
struct Sizes {
  std::int64_t rows, columns;
  bool row_per_element;

  Extents strides() const { return row_per_element ? Extents{1, rows} : Extents{columns, 1}; }
  RowCase rows_of() const { return RowCase({rows, columns}, {false, true}); }
};

void fill_small(Array& a, std::mt19937_64& random) {
  if (a.index) return;
  for (std::int64_t i = 0; i < a.extent; ++i) {
    const auto number = static_cast<std::int64_t>(random() % 4001) - 2000;
    const long double v = category(a.dtype) == Category::Float ? static_cast<long double>(number) / 1000
                                                               : static_cast<long double>(number % 50);
    test::write(a.dtype, a.memory.data() + i * static_cast<std::int64_t>(size_of(a.dtype)), test::bits_of(a.dtype, v));
  }
}

/// Runs a case and compares each output with the reference: at most `allowed` of its size, or of 1, away.
void check(RowCase& c, double allowed = 0, std::int64_t shared_per_block = 48 << 10, bool divides_by_zero = false) {
  for (std::uint32_t i = 0; i < c.leaves.size(); ++i) c.kernel.inputs.push_back({jit::Slot::Kind::Leaf, i});
  c.kernel.name = "rows";
  const RowReference reference(c);
  std::vector<RowReference::Values> expected;
  for (std::int64_t r = 0; r < reference.rows; ++r) expected.push_back(reference.row(r));
  LoopsMemory memory;
  for (const Array& a : c.leaves) memory.add(a.memory.data(), bytes_of(a));
  for (const Array& a : c.outputs) memory.add(a.memory.data(), bytes_of(a), LoopsMemory::Content::Unwritten);
  const jit::LoopNest nest = c.nest();
  const bool aliased = std::ranges::any_of(c.in_place, [](int leaf) { return leaf >= 0; });
  LoopsLaunch launch{c.kernel, nest, class_of(c.kernel, nest, aliased), c.scalars};
  launch.shared_per_block = shared_per_block;
  jit::Faults found;
  ASSERT_NO_THROW(found = LoopsLauncher(launch, memory).run());
  EXPECT_EQ(found.division_by_zero, divides_by_zero);
  for (std::int64_t r = 0; r < reference.rows; ++r)
    for (std::size_t k = 0; k < c.outputs.size(); ++k) {
      const DType t = c.graph()[c.graph().outputs()[k]].dtype;
      const bool is_one = c.kernel.rows->axis_mapping[k] != AxisMapping::Domain;
      for (std::int64_t i = 0; i < (is_one ? 1 : reference.columns); ++i) {
        const Bits e = expected[static_cast<std::size_t>(r)][k][static_cast<std::size_t>(i)];
        const Bits g = reference.element(c.output_array(k), r, i);
        if (same_value(t, e, g)) continue;
        const auto x = static_cast<double>(test::number_of(t, e)), y = static_cast<double>(test::number_of(t, g));
        ASSERT_LE(std::fabs(x - y), allowed * std::max(std::fabs(x), 1.))
            << "output " << k << " of row " << r << " at " << i;
      }
    }
}

/// Vectors need aligned memory.
void align(RowCase& c) {
  for (std::vector<Array>* arrays : {&c.leaves, &c.outputs})
    for (Array& a : *arrays) {
      if (a.index) continue;
      test::GuardedBytes aligned(bytes_of(a), true);
      if (bytes_of(a) > 0) std::memcpy(aligned.data(), a.memory.data(), bytes_of(a));
      a.memory = std::move(aligned);
    }
}

class LoopsRows : public ::testing::TestWithParam<NamedOverride> {
 protected:
  /// For each of some sizes.
  template <class F>
  void for_sizes(F f) {
    const Overridden w(GetParam().chosen);
    std::mt19937_64 random(test::seed_of_tests());
    const bool row_per_element = GetParam().chosen.config.row_per_element,
               is_large = GetParam().chosen.config.team == 0;
    for (const std::int64_t columns : {1, 31, 32, 65, is_large ? 300 : 128})
      for (const std::int64_t rows : {1, row_per_element ? 33 : 3}) {
        SCOPED_TRACE(::testing::Message() << rows << " rows of " << columns << ", seed " << test::seed_of_tests());
        ASSERT_NO_FATAL_FAILURE(f(Sizes{rows, columns, row_per_element}, random));
      }
  }
};

TEST_P(LoopsRows, Softmax) {
  for_sizes([](const Sizes& s, std::mt19937_64& random) {
    const bool in_place = random() % 2;
    RowCase c = s.rows_of();
    const Operand x = c.leaf(DType::Float32, AxisMapping::Domain, s.strides());
    const Operand e = c.op(Op::exp, {c.op(Op::sub, {x, c.op(Op::amax, {x})})});
    c.output(c.op(Op::div, {e, c.op(Op::sum, {e})}), AxisMapping::Domain, s.strides(), in_place ? 0 : -1);
    align(c);
    fill_small(c.leaves[0], random);
    check(c, 2e-6, random() % 2 ? 48 << 10 : 0);
  });
}

/// (x - mean) * rsqrt(var + eps) * w, and the mean.
TEST_P(LoopsRows, LayerNorm) {
  for_sizes([](const Sizes& s, std::mt19937_64& random) {
    RowCase c = s.rows_of();
    const Operand x = c.leaf(DType::Float64, AxisMapping::Domain, s.strides()),
                  w = c.leaf(DType::Float64, AxisMapping::Domain, {0, 1});
    const Operand n = c.graph().cast(c.op(Op::count, {x}), DType::Float64);
    const Operand mean = c.op(Op::div, {c.op(Op::sum, {x}), n}), d = c.op(Op::sub, {x, mean});
    const Operand var = c.op(Op::div, {c.op(Op::sum, {c.op(Op::mul, {d, d})}), n});
    const Operand epsilon = c.graph().constant(DType::Float64, test::to_bits(1e-5));
    const Operand scale = c.op(Op::rsqrt, {c.op(Op::add, {var, epsilon})});
    c.output(c.op(Op::mul, {c.op(Op::mul, {d, scale}), w}), AxisMapping::Domain, s.strides());
    c.output(mean, AxisMapping::Kept);
    align(c);
    for (Array& a : c.leaves) fill_small(a, random);
    check(c, 1e-10);
  });
}

/// Everything but sums of floats: exactly the reference's.
TEST_P(LoopsRows, ManyReductions) {
  for_sizes([](const Sizes& s, std::mt19937_64& random) {
    RowCase c = s.rows_of();
    const DType t = random() % 2 ? DType::Float32 : DType::Int32;
    const Operand x = c.leaf(t, AxisMapping::Domain, s.strides()),
                  h = c.leaf(DType::Float16, AxisMapping::Domain, s.strides());
    const Operand p = c.leaf(DType::Int64, AxisMapping::Kept), i = c.iota(c.strides(AxisMapping::Domain), 5);
    const Operand whole = c.op(Op::mul, {c.op(Op::add, {i, p}), c.graph().cast(x, DType::Int64)});
    for (const Op op : {Op::amax, Op::amin, Op::argmax, Op::argmin}) c.output(c.op(op, {x}), AxisMapping::Rows);
    c.output(c.op(Op::sum, {whole}), AxisMapping::Rows);
    c.output(c.op(Op::prod, {whole}), AxisMapping::Kept);
    c.output(c.op(Op::any, {c.op(Op::lt, {c.graph().cast(h, DType::Float32), c.number(-60000)})}), AxisMapping::Rows);
    c.output(c.op(Op::count, {x}), AxisMapping::Rows);
    c.output(p, AxisMapping::Rows);
    align(c);
    for (Array& a : c.leaves)
      if (!a.index && size_of(a.dtype) != 2) fill(a, random);
    fill_small(c.leaves[1], random);
    check(c);
  });
}

/// What is hard for online sums: infinities, elements that are all the same, steps.
TEST_P(LoopsRows, SumsOfExponentialsAndSquares) {
  for_sizes([](const Sizes& s, std::mt19937_64& random) {
    RowCase c = s.rows_of();
    const Operand x = c.leaf(DType::Float32, AxisMapping::Domain, s.strides()), most = c.op(Op::amax, {x});
    const Operand n = c.graph().cast(c.op(Op::count, {x}), DType::Float32);
    const Operand d = c.op(Op::sub, {x, c.op(Op::div, {c.op(Op::sum, {x}), n})});
    c.output(c.op(Op::sum, {c.op(Op::exp, {c.op(Op::sub, {x, most})})}), AxisMapping::Rows);
    c.output(c.op(Op::sum, {c.op(Op::mul, {d, d})}), AxisMapping::Rows);
    align(c);
    fill_small(c.leaves[0], random);
    const auto write = [&](std::int64_t i, double v) {
      test::write(DType::Float32, c.leaves[0].memory.data() + 4 * i, test::to_bits(static_cast<float>(v)));
    };
    for (std::int64_t i = 0; i < c.leaves[0].extent; ++i)
      if (random() % 3 == 0) write(i, static_cast<double>(i % 16));
    if (random() % 4 == 0) write(0, INFINITY);
    check(c, 1e-4);
  });
}

/// Outputs over inputs: of one element for each row, which the last pass reads, and of all elements.
TEST_P(LoopsRows, InPlace) {
  for_sizes([](const Sizes& s, std::mt19937_64& random) {
    RowCase c = s.rows_of();
    const Operand x = c.leaf(DType::Float32, AxisMapping::Domain, s.strides()),
                  p = c.leaf(DType::Float32, AxisMapping::Kept);
    const Operand sum = c.op(Op::sum, {c.op(Op::mul, {x, p})});
    c.output(c.op(Op::add, {p, sum}), AxisMapping::Kept, 1);
    c.output(c.op(Op::sub, {x, c.op(Op::mul, {sum, p})}), AxisMapping::Domain, s.strides(), 0);
    align(c);
    for (Array& a : c.leaves) fill_small(a, random);
    check(c, 1e-4);
  });
}

/// Divisions by zero are noted where there is an element, and nowhere else.
TEST_P(LoopsRows, Faults) {
  for_sizes([](const Sizes& s, std::mt19937_64& random) {
    for (const bool is_faulty : {false, true}) {
      RowCase c = s.rows_of();
      const Operand x = c.leaf(DType::Int64, AxisMapping::Domain, s.strides()),
                    i = c.iota(c.strides(AxisMapping::Domain), 0);
      c.output(c.op(Op::sum, {c.op(Op::floor_divide, {i, x})}), AxisMapping::Rows);
      align(c);
      for (std::int64_t k = 0; k < c.leaves[0].extent; ++k)
        test::write(DType::Int64, c.leaves[0].memory.data() + 8 * k, random() % 9 + 1);
      if (is_faulty) test::write(DType::Int64, c.leaves[0].memory.data() + 8 * (c.leaves[0].extent - 1), 0);
      check(c, 0, 48 << 10, is_faulty);
    }
  });
}

/// Elements of an array at computed places: never at those of elements that do not exist.
TEST_P(LoopsRows, Gathers) {
  RowKernel k("gathers");
  const Operand at = k.leaf(DType::Int64), table = k.array(DType::Int64),
                of_row = k.leaf(DType::Int64, AxisMapping::Rows);
  const Operand n = k.number(DType::Int64, 7), one = k.number(DType::Int64, 1);
  const Operand loaded = k.graph().load(table, k.apply(Op::axis_offset, {at, n, one}));
  const Operand product = k.apply(Op::mul, {loaded, of_row});
  k.output(k.apply(Op::sum, {product}), AxisMapping::Rows);
  k.output(k.apply(Op::argmax, {product}), AxisMapping::Rows);
  const Kernel& kernel = k.done();
  for_sizes([&](const Sizes& s, std::mt19937_64& random) {
    const bool is_faulty = random() % 2;
    const std::vector<std::int64_t> entries{5, 50, 500, 5000, 50000, 500000, 5000000};
    std::vector<std::int64_t> places(static_cast<std::size_t>(s.rows * s.columns)), rows;
    for (std::int64_t& p : places) p = static_cast<std::int64_t>(random() % 14) - 7;
    if (is_faulty) places.back() = 7;
    for (std::int64_t r = 0; r < s.rows; ++r) rows.push_back(r + 1);
    const TensorRef operands[] = {runtime::empty(Shape{s.rows}, DType::Int64, Device()),
                                  runtime::empty(Shape{s.rows}, DType::Int64, Device()),
                                  matrix(places, s.rows, s.columns, s.row_per_element, Device()),
                                  upload(entries, {7}, Device()), upload(rows, {s.rows}, Device())};
    LoopsMemory memory;
    std::vector<TensorImpl*> pointers;
    for (const TensorRef& t : operands) {
      memory.add(static_cast<std::byte*>(t->buffer->data()), t->buffer->bytes());
      pointers.push_back(t.get());
    }
    const jit::LoopNest nest = row_nest(kernel, pointers, {s.rows, s.columns});
    const jit::Faults found = LoopsLauncher(LoopsLaunch{kernel, nest, class_of(kernel, nest)}, memory).run();
    ASSERT_EQ(found.index_out_of_range, is_faulty);
    const auto sums = download<std::int64_t>(operands[0]), greatest = download<std::int64_t>(operands[1]);
    for (std::int64_t r = 0; r < s.rows; ++r) {
      std::int64_t sum = 0, most = 0, place = 0;
      for (std::int64_t c = 0; c < s.columns; ++c) {
        const std::int64_t p = places[static_cast<std::size_t>(r * s.columns + c)];
        const std::int64_t v = entries[static_cast<std::size_t>(p < 0 ? p + 7 : p % 7)] * (r + 1);
        sum += v;
        if (v > most) most = v, place = c;
      }
      ASSERT_EQ(sums[static_cast<std::size_t>(r)], sum) << r;
      ASSERT_EQ(greatest[static_cast<std::size_t>(r)], place) << r;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Schemes, LoopsRows, ::testing::ValuesIn(overrides),
                         [](const auto& i) { return i.param.name; });

/// What choose_rows gives by itself.
TEST(LoopsRowsChoice, AxesAndLayouts) {
  std::mt19937_64 random(test::seed_of_tests());
  const auto run = [&](Extents extents, std::vector<bool> reduced, Extents strides) {
    RowCase c(std::move(extents), std::move(reduced));
    const Operand x = c.leaf(DType::Float32, AxisMapping::Domain, std::move(strides));
    const Operand d = c.op(Op::sub, {x, c.op(Op::amin, {x})});
    c.output(d, AxisMapping::Domain);
    c.output(c.op(Op::argmax, {d}), AxisMapping::Rows);
    align(c);
    fill_small(c.leaves[0], random);
    check(c, 1e-6);
  };
  run({3, 20, 6}, {false, true, false}, {120, 6, 1});
  run({3, 20, 6}, {true, false, true}, {120, 6, 1});
  run({4, 9, 21}, {true, true, true}, {1, 4, 36});
  run({20, 30}, {false, true}, {-30, -1});
  run({6, 5, 7}, {false, true, true}, {5, 1, 0});
  run({6, 50}, {false, true}, {0, 1});
  run({1, 1}, {false, true}, {1, 1});
  run({2, 3000}, {false, true}, {3000, 1});
}

TEST(LoopsRowsChoice, RowsWithoutElements) {
  for (const NamedOverride& named : overrides) {
    SCOPED_TRACE(named.name);
    const Overridden w(named.chosen);
    RowCase c({3, 0}, {false, true});
    const Operand x = c.leaf(DType::Float32, AxisMapping::Domain, {0, 1}),
                  p = c.leaf(DType::Float32, AxisMapping::Kept, {1, 0});
    c.output(c.op(Op::add, {c.op(Op::sum, {x}), c.number(4)}), AxisMapping::Rows, {1, 0});
    c.output(c.op(Op::prod, {x}), AxisMapping::Rows, {1, 0});
    static_cast<void>(p);
    for (Array& a : c.outputs) a.extent = 3, a.memory = test::GuardedBytes(3 * size_of(a.dtype), true);
    c.kernel.name = "rows", c.kernel.inputs = {{jit::Slot::Kind::Leaf, 0}, {jit::Slot::Kind::Leaf, 1}};
    LoopsMemory memory;
    for (const Array& a : c.outputs) memory.add(a.memory.data(), bytes_of(a), LoopsMemory::Content::Unwritten);
    const jit::LoopNest nest = c.nest();
    const LoopsLaunch launch{c.kernel, nest, class_of(c.kernel, nest)};
    ASSERT_NO_THROW(LoopsLauncher(launch, memory).run());
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < 2; ++k)
        EXPECT_EQ(
            test::as<float>(test::read(DType::Float32, c.outputs[static_cast<std::size_t>(k)].memory.data() + 4 * r)),
            k == 0 ? 4 : 1);
  }
}

}  // namespace
}  // namespace sinter::testing
