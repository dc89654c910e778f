// Kernels that reduce on the CPU: every reduction, dtype and way in which rows lie, against plain C++.
#include <jit/cpu/row_program.hpp>

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include "cpu_row_checks.hpp"

namespace sinter::test {
namespace {

/// Sums of floats: so many roundings, of the magnitudes' sum, at most: blocks of 1024 elements in 8 vectors, or 32 side
/// by side, then the result. The wider the vectors the fewer.
constexpr double sum_roundings = 48;

/// One reduction of one array, of 16-bit floats in float32. Sums of floats have a bound from the magnitudes.
void check_reduction(Op op, DType dtype, Extents extents, std::vector<bool> reduced, Extents strides,
                     std::minstd_rand& random, bool special = false) {
  RowCase c(std::move(extents), std::move(reduced));
  if (strides.empty()) strides = row_major(c.extents);
  const Operand x = c.leaf(dtype, AxisMapping::Domain, strides);
  const DType computed = dtype == DType::Float16 || dtype == DType::BFloat16 ? DType::Float32 : dtype;
  c.output(c.op(op, {computed == dtype ? x : c.graph().cast(x, computed)}), AxisMapping::Rows);
  special ? fill(c.leaves[0], random) : fill_small(c.leaves[0], random);
  const std::string what =
      fmt::format("{} of {}, [{}] by [{}]", name(op), name(dtype), fmt::join(c.extents, ","), fmt::join(strides, ","));
  const bool rounds = category(dtype) == Category::Float && (op == Op::sum || op == Op::prod);
  if (!rounds) return check(c, what);
  const double epsilon = computed == DType::Float32 ? 0x1p-24 : 0x1p-53;
  const RowReference reference(c);
  const LoopNest nest = c.nest();
  const RowProgram program(c.kernel);
  EachIsa().run([&](Isa isa) {
    ASSERT_FALSE(program.run(nest, {}).any());
    for (std::int64_t r = 0; r < reference.rows; ++r) {
      const Bits exact = reference.row(r)[0][0];
      long double magnitude = 0;
      for (std::int64_t i = 0; i < reference.columns; ++i)
        magnitude += std::fabs(number_of(dtype, reference.element(c.leaves[0], r, i)));
      const auto columns = static_cast<double>(reference.columns);
      const double least = computed == DType::Float32 ? 0x1p-149 : 0x1p-1074;  // by which denormals are rounded
      const double bound =
          op == Op::sum ? sum_roundings * epsilon * static_cast<double>(magnitude)
                        : 2 * columns * (epsilon * std::fabs(static_cast<double>(number_of(computed, exact))) + least);
      ASSERT_NO_FATAL_FAILURE(expect_close(computed, exact, reference.element(c.outputs[0], r, 0), bound,
                                           fmt::format("{}, {}, row {}", what, isa_name(isa), r)));
    }
  });
}

struct Reduces {
  Op op;
  std::vector<DType> dtypes;
};
const std::vector<Reduces>& all_reductions() {
  static const std::vector<DType> sums{DType::Int64, DType::Float32, DType::Float64, DType::Float16, DType::BFloat16};
  static const std::vector<DType> places{DType::Int32,   DType::Int64,   DType::Float32,
                                         DType::Float64, DType::Float16, DType::BFloat16};
  static const std::vector<DType> any{DType::Bool,    DType::Int32,   DType::Int64,   DType::Float32,
                                      DType::Float64, DType::Float16, DType::BFloat16};
  static const std::vector<Reduces> all{{Op::sum, sums},      {Op::prod, sums},         {Op::amax, any},
                                        {Op::amin, any},      {Op::any, {DType::Bool}}, {Op::all, {DType::Bool}},
                                        {Op::argmax, places}, {Op::argmin, places}};
  return all;
}
template <class F>
void for_all_reductions(F f) {
  for (const Reduces& r : all_reductions())
    for (const DType t : r.dtypes) {
      f(r.op, t);
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(CpuRowProgram, ReducesRows) {
  std::minstd_rand random(seed_of_tests());
  for_all_reductions([&](Op op, DType t) {
    for (const std::int64_t columns :
         {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 255, 256, 257, 1023, 1025, 2500})
      check_reduction(op, t, {5, columns}, {false, true}, {}, random, op != Op::sum && op != Op::prod);
  });
}

TEST(CpuRowProgram, ReducesColumns) {
  std::minstd_rand random(seed_of_tests());
  for_all_reductions([&](Op op, DType t) {
    for (const std::int64_t lanes : {1, 2, 3, 7, 16, 17, 31, 64, 65, 300})
      for (const std::int64_t count : {1, 2, 33, 100})
        check_reduction(op, t, {count, lanes}, {true, false}, {}, random, op != Op::sum && op != Op::prod);
  });
}

TEST(CpuRowProgram, ReducesAnyAxes) {
  std::minstd_rand random(seed_of_tests());
  for_all_reductions([&](Op op, DType t) {
    check_reduction(op, t, {4, 9, 21}, {false, true, false}, {}, random);        // middle
    check_reduction(op, t, {4, 9, 21}, {true, false, true}, {}, random);         // both ends
    check_reduction(op, t, {4, 9, 21}, {true, true, true}, {}, random);          // all
    check_reduction(op, t, {4, 9, 21}, {true, true, true}, {1, 4, 36}, random);  // all, transposed
    check_reduction(op, t, {3, 40, 2}, {false, true, false}, {}, random);        // few side by side
    check_reduction(op, t, {40, 30}, {false, true}, {1, 40}, random);            // transposed
    check_reduction(op, t, {20, 30}, {false, true}, {90, 3}, random);            // every third element
    check_reduction(op, t, {20, 30}, {false, true}, {-30, -1}, random);          // backwards
    check_reduction(op, t, {6, 5, 7}, {false, true, true}, {5, 1, 0}, random);   // broadcast
    check_reduction(op, t, {6, 50}, {false, true}, {0, 1}, random);              // broadcast to rows
    check_reduction(op, t, {1, 700}, {false, true}, {}, random);
    check_reduction(op, t, {700, 1}, {false, true}, {}, random);
    check_reduction(op, t, {1, 1}, {false, true}, {}, random);
  });
}

TEST(CpuRowProgram, LongRowsAreCut) {
  std::minstd_rand random(seed_of_tests());
  for (const std::int64_t n : {32'769, 65'536, 100'001}) {
    check_reduction(Op::sum, DType::Float32, {2, n}, {false, true}, {}, random);
    check_reduction(Op::argmax, DType::Float32, {2, n}, {false, true}, {}, random);
    check_reduction(Op::sum, DType::Float64, {n, 3}, {true, false}, {}, random);
    check_reduction(Op::argmin, DType::Int32, {n, 3}, {true, false}, {}, random);
    check_reduction(Op::sum, DType::BFloat16, {2, n}, {false, true}, {}, random);
    check_reduction(Op::argmax, DType::Float16, {2, n}, {false, true}, {}, random);
  }
  check_reduction(Op::sum, DType::Float32, {300, 400}, {true, false}, {}, random);
  check_reduction(Op::argmax, DType::Float64, {300, 400}, {true, false}, {}, random);
}

TEST(CpuRowProgram, ReducesSpecialValues) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const auto result = [&](Op op, const std::vector<float>& x, bool columns) {
    const auto n = static_cast<std::int64_t>(x.size());
    RowCase c(columns ? Extents{n, 40} : Extents{40, n}, {columns, !columns});
    const Operand leaf = c.leaf(DType::Float32, AxisMapping::Domain, columns ? Extents{1, 0} : Extents{0, 1});
    std::memcpy(c.leaves[0].memory.data(), x.data(), x.size() * 4);
    c.output(c.op(op, {leaf}), AxisMapping::Rows);
    RowProgram(c.kernel).run(c.nest(), {});
    return read(c.outputs[0].dtype,
                c.outputs[0].memory.data() + 39 * static_cast<std::int64_t>(size_of(c.outputs[0].dtype)));
  };
  const auto number = [&](Op op, const std::vector<float>& x, bool columns) {
    return as<float>(result(op, x, columns));
  };
  EachIsa().run([&](Isa isa) {
    for (const bool columns : {false, true})
      for (const std::size_t n : {1, 5, 16, 40, 100, 1500}) {
        SCOPED_TRACE(fmt::format("{}, {} elements, {}", isa_name(isa), n, columns ? "columns" : "rows"));
        std::vector<float> x(n, -inf);
        EXPECT_EQ(number(Op::amax, x, columns), -inf);
        EXPECT_EQ(number(Op::sum, x, columns), -inf);
        EXPECT_EQ(result(Op::argmax, x, columns), 0u);
        std::fill(x.begin(), x.end(), 1.f);
        x[n / 2] = nan;
        x[n - 1] = nan;
        EXPECT_TRUE(std::isnan(number(Op::amax, x, columns)));
        EXPECT_TRUE(std::isnan(number(Op::amin, x, columns)));
        EXPECT_TRUE(std::isnan(number(Op::sum, x, columns)));
        EXPECT_TRUE(std::isnan(number(Op::prod, x, columns)));
        EXPECT_EQ(result(Op::argmax, x, columns), n / 2);
        EXPECT_EQ(result(Op::argmin, x, columns), n / 2);
        std::fill(x.begin(), x.end(), 3e38f);
        EXPECT_EQ(number(Op::sum, x, columns), n == 1 ? 3e38f : inf);
        if (n < 5) continue;
        x[1] = inf;
        x[3] = -inf;
        EXPECT_TRUE(std::isnan(number(Op::sum, x, columns)));
        EXPECT_EQ(number(Op::amax, x, columns), inf);
        EXPECT_EQ(result(Op::argmin, x, columns), 3u);
      }
  });
}

/// Sums of doubles carry their rounding errors, which infinite ones do not have.
TEST(CpuRowProgram, SumsOfDoublesMayBeInfinite) {
  for (const bool columns : {false, true}) {
    RowCase c(columns ? Extents{3000, 20} : Extents{20, 3000}, {columns, !columns});
    const Operand x = c.leaf(DType::Float64);
    c.output(c.op(Op::sum, {x}), AxisMapping::Rows);
    for (std::int64_t i = 0; i < 60'000; ++i) reinterpret_cast<double*>(c.leaves[0].memory.data())[i] = 1e308;
    EachIsa().run([&](Isa) {
      RowProgram(c.kernel).run(c.nest(), {});
      EXPECT_EQ(as<double>(read(DType::Float64, c.outputs[0].memory.data())), std::numeric_limits<double>::infinity());
    });
  }
}

TEST(CpuRowProgram, IntegersWrap) {
  RowCase c({3, 100}, {false, true});
  const Operand x = c.leaf(DType::Int64);
  c.output(c.op(Op::sum, {x}), AxisMapping::Rows);
  c.output(c.op(Op::prod, {x}), AxisMapping::Rows);
  std::minstd_rand random(seed_of_tests());
  fill(c.leaves[0], random);
  check(c, "sums and products that wrap");
}

/// softmax of every kind of rows: three passes, two reductions.
void add_softmax(RowCase& c, Operand x, AxisMapping axis_mapping, int in_place = -1) {
  const Operand e = c.op(Op::exp, {c.op(Op::sub, {x, c.op(Op::amax, {x})})});
  c.output(c.op(Op::div, {e, c.op(Op::sum, {e})}), axis_mapping, in_place);
}

TEST(CpuRowProgram, SoftmaxAnyWay) {
  std::minstd_rand random(seed_of_tests());
  const auto run = [&](Extents extents, std::vector<bool> reduced, Extents strides, bool in_place) {
    RowCase c(std::move(extents), std::move(reduced));
    const Operand x = c.leaf(DType::Float32, AxisMapping::Domain, strides.empty() ? row_major(c.extents) : strides);
    add_softmax(c, x, AxisMapping::Domain, in_place ? 0 : -1);
    fill_small(c.leaves[0], random);
    check(c, fmt::format("softmax of [{}]", fmt::join(c.extents, ",")), 1e-5);
  };
  for (const bool in_place : {false, true}) {
    for (const std::int64_t n : {1, 2, 5, 8, 31, 32, 33, 64, 200, 1025, 5000}) run({7, n}, {false, true}, {}, in_place);
    for (const std::int64_t n : {1, 3, 17, 100}) run({n, 37}, {true, false}, {}, in_place);
    run({3, 20, 6}, {false, true, false}, {}, in_place);
    run({3, 20, 6}, {true, false, true}, {}, in_place);
    run({500, 3}, {false, true}, {}, in_place);
    run({30, 40}, {false, true}, {1, 30}, in_place);
  }
  run({2, 70'000}, {false, true}, {}, false);  // cut
  run({4000, 70}, {true, false}, {}, true);
}

/// (x - mean) * rsqrt(var + eps) * w + b, and the mean.
TEST(CpuRowProgram, LayerNorm) {
  std::minstd_rand random(seed_of_tests());
  for (const auto& [rows, columns] : {std::pair(1, 1), {5, 3}, {40, 64}, {9, 1000}, {2, 70'000}}) {
    RowCase c({rows, columns}, {false, true});
    const Operand x = c.leaf(DType::Float32), w = c.leaf(DType::Float32, AxisMapping::Domain, {0, 1}),
                  b = c.leaf(DType::Float32, AxisMapping::Domain, {0, 1});
    const Operand n = c.graph().cast(c.op(Op::count, {x}), DType::Float32);
    const Operand mean = c.op(Op::div, {c.op(Op::sum, {x}), n}), d = c.op(Op::sub, {x, mean});
    const Operand var = c.op(Op::div, {c.op(Op::sum, {c.op(Op::mul, {d, d})}), n});
    const Operand scale = c.op(Op::rsqrt, {c.op(Op::add, {var, c.number(1e-5f)})});
    c.output(c.op(Op::fma, {c.op(Op::mul, {d, scale}), w, b}), AxisMapping::Domain);
    c.output(mean, AxisMapping::Kept);
    for (Array& a : c.leaves) fill_small(a, random);
    check(c, fmt::format("layer norm of {} by {}", rows, columns), 2e-5);
  }
}

TEST(CpuRowProgram, SeveralReductionsOfSeveralOperands) {
  std::minstd_rand random(seed_of_tests());
  for (const bool columns : {false, true})
    for (const std::int64_t n : {1, 4, 20, 333}) {
      RowCase c(columns ? Extents{n, 37} : Extents{37, n}, {columns, !columns});
      const Extents transposed = columns ? Extents{1, n} : Extents{1, 37};
      const Operand x = c.leaf(DType::Float32), y = c.leaf(DType::Float32, AxisMapping::Domain, transposed);
      const Operand p = c.leaf(DType::Float32, AxisMapping::Kept), i = c.iota(c.strides(AxisMapping::Domain), 5);
      const Operand s = c.graph().scalar(DType::Float32, Category::Float, 0);
      c.scalars = {to_bits(0.75f)};
      const Operand z = c.op(Op::mul, {c.op(Op::sub, {x, y}), c.op(Op::mul, {p, s})});
      c.output(c.op(Op::amax, {z}), AxisMapping::Rows);
      c.output(c.op(Op::argmin, {y}), AxisMapping::Kept);
      c.output(c.op(Op::sum, {i}), AxisMapping::Rows);
      c.output(c.op(Op::any, {c.op(Op::lt, {x, y})}), AxisMapping::Rows);
      c.output(c.op(Op::sub, {c.op(Op::amax, {x}), c.op(Op::amin, {x})}), AxisMapping::Rows);
      c.output(c.op(Op::amin, {c.op(Op::mul, {p, p})}), AxisMapping::Rows);  // of what is the same for a whole row
      c.output(c.op(Op::count, {x}), AxisMapping::Kept);
      c.output(c.op(Op::exp, {p}), AxisMapping::Kept);  // of no reduction
      for (Array& a : c.leaves) fill_small(a, random);
      check(c, fmt::format("several reductions of {} elements", n), 1e-5);
    }
}

/// Outputs of one element for each row over a leaf of that kind, which the last pass reads.
TEST(CpuRowProgram, RowsInPlace) {
  std::minstd_rand random(seed_of_tests());
  RowCase c({50, 70}, {false, true});
  const Operand x = c.leaf(DType::Float32), p = c.leaf(DType::Float32, AxisMapping::Kept);
  const Operand sum = c.op(Op::sum, {c.op(Op::mul, {x, p})});
  c.output(c.op(Op::add, {p, sum}), AxisMapping::Kept, 1);
  c.output(c.op(Op::sub, {x, c.op(Op::mul, {sum, p})}), AxisMapping::Domain, 0);
  for (Array& a : c.leaves) fill_small(a, random);
  check(c, "rows in place", 1e-4);
}

/// Elements that no reduction's result changes are written in the pass that reduces, also over leaves that it reads.
TEST(CpuRowProgram, ElementsOfTheReducingPassInPlace) {
  std::minstd_rand random(seed_of_tests());
  const std::pair<std::int64_t, std::int64_t> sizes[] = {{1, 1}, {7, 5}, {37, 64}, {130, 140}, {3, 34'000}, {5000, 3}};
  for (const auto& [rows, columns] : sizes)
    for (const bool down : {false, true})
      for (const int over : {-1, 0, 1})
        for (const bool again : {false, true}) {
          RowCase c({rows, columns}, {down, !down});
          const Operand x = c.leaf(DType::Float32), y = c.leaf(DType::Float32, AxisMapping::Domain, {1, rows});
          const Operand e = c.op(Op::sin, {c.op(Op::add, {x, y})});
          c.output(c.op(Op::amax, {x}), AxisMapping::Rows);
          c.output(c.op(Op::amin, {y}), AxisMapping::Rows);
          if (over == 1)
            c.output(e, AxisMapping::Domain, {1, rows}, 1);
          else
            c.output(e, AxisMapping::Domain, over);
          c.output(c.op(Op::mul, {e, x}), AxisMapping::Domain);
          const Operand most = c.op(Op::amax, {e});
          c.output(again ? c.op(Op::amax, {c.op(Op::mul, {c.op(Op::sub, {e, most}), x})}) : most, AxisMapping::Kept);
          for (Array& a : c.leaves) fill_small(a, random);
          check(c, fmt::format("{} by {}, over {}", rows, columns, over), 1e-5);
        }
}

/// sum(where(column == p, x, 0)) reads one element of each row, wherever that lies.
TEST(CpuRowProgram, SumsThatPickAnElement) {
  std::minstd_rand random(seed_of_tests());
  const auto run = [&](DType dtype, DType positions, Extents extents, std::vector<bool> reduced, Extents strides,
                       Extents columns, std::int64_t first) {
    RowCase c(std::move(extents), std::move(reduced));
    const Operand x = c.leaf(dtype, AxisMapping::Domain, strides.empty() ? row_major(c.extents) : strides);
    const Operand number = c.leaf(DType::Int64, AxisMapping::Kept);
    const Operand column = c.iota(columns, first);
    const bool is_half = size_of(dtype) == 2;
    const Operand element = is_half ? c.graph().cast(x, DType::Float32) : x;
    const auto index = [&](Operand o) { return positions == DType::Int64 ? o : c.graph().cast(o, positions); };
    const Operand position = index(c.op(Op::add, {number, number}));
    const Operand zero = c.graph().constant(is_half ? DType::Float32 : dtype, 0);
    const Operand hit =
        random() % 2 ? c.op(Op::eq, {position, index(column)}) : c.op(Op::eq, {index(column), position});
    const Operand picked = c.op(Op::sum, {c.op(Op::where, {hit, element, zero})});
    c.output(picked, AxisMapping::Rows);
    c.output(c.op(Op::sub, {c.op(Op::amax, {element}), picked}), AxisMapping::Kept);
    if (random() % 2) c.output(c.op(Op::mul, {element, picked}), AxisMapping::Domain);
    fill(c.leaves[0], random);
    Array& half_positions = c.leaves[1];
    const RowReference reference(c);
    for (std::int64_t i = 0; i < half_positions.extent; ++i) {
      const std::int64_t at = static_cast<std::int64_t>(random()) % (reference.columns + 2) + first - 1;
      reinterpret_cast<std::int64_t*>(half_positions.memory.data())[i] = at / 2;
    }
    check(c, fmt::format("picks of {} by {}, [{}], columns [{}] from {}", name(dtype), name(positions),
                         fmt::join(c.extents, ","), fmt::join(columns, ","), first));
  };
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16})
    for (const DType positions : {DType::Int64, DType::Int32}) {
      for (const std::int64_t n : {1, 2, 31, 33, 257, 3000})
        run(dtype, positions, {7, n}, {false, true}, {}, {0, 1}, 0);
      run(dtype, positions, {33, 20}, {true, false}, {}, {1, 0}, 0);              // columns
      run(dtype, positions, {4, 9, 21}, {false, true, false}, {}, {0, 1, 0}, 0);  // middle
      run(dtype, positions, {4, 9, 21}, {false, true, true}, {}, {0, 21, 1}, 0);  // two axes as one
      run(dtype, positions, {4, 9, 21}, {false, true, true}, {}, {0, 1, 9}, 0);   // and as two
      run(dtype, positions, {30, 40}, {false, true}, {1, 30}, {0, 1}, 0);         // transposed
      run(dtype, positions, {20, 30}, {false, true}, {-30, -1}, {0, 2}, -10);     // backwards, every second number
      run(dtype, positions, {20, 30}, {false, true}, {}, {0, -1}, 29);            // counted down
      run(dtype, positions, {20, 30}, {false, true}, {}, {1, 1}, 3);              // another start in each row
      run(dtype, positions, {20, 30}, {false, true}, {}, {1, 0}, 2);              // all columns or none
      run(dtype, positions, {2, 70'000}, {false, true}, {}, {0, 1}, 0);           // cut
      run(dtype, DType::Int32, {3, 50}, {false, true}, {}, {0, std::int64_t{1} << 31}, 0);  // numbers that wrap
    }
}

TEST(CpuRowProgram, StoredDtypesAreConverted) {
  std::minstd_rand random(seed_of_tests());
  RowCase c({9, 700}, {false, true});
  const Operand x = c.leaf(DType::Float16), b = c.leaf(DType::Bool);
  const Operand sum = c.op(Op::sum, {c.graph().cast(x, DType::Float32)});
  c.output(c.graph().cast(c.op(Op::mul, {c.graph().cast(x, DType::Float32), sum}), DType::BFloat16),
           AxisMapping::Domain);
  c.output(c.op(Op::sum, {c.graph().cast(b, DType::Int64)}), AxisMapping::Rows);
  for (Array& a : c.leaves) fill_small(a, random);
  check(c, "half to bfloat16", 0x1p-7);
}

TEST(CpuRowProgram, RowsWithoutElements) {
  RowCase c({3, 0}, {false, true});
  const Operand x = c.leaf(DType::Float32), p = c.leaf(DType::Float32, AxisMapping::Kept, {1, 0});
  const Operand zero = c.op(Op::sum, {x});
  c.output(c.op(Op::add, {zero, c.number(4)}), AxisMapping::Rows, {1, 0});
  c.output(c.op(Op::prod, {x}), AxisMapping::Rows, {1, 0});
  c.output(c.op(Op::any, {c.op(Op::lt, {x, x})}), AxisMapping::Rows, {1, 0});
  c.output(c.op(Op::all, {c.op(Op::lt, {x, x})}), AxisMapping::Rows, {1, 0});
  c.output(c.op(Op::div, {zero, c.graph().cast(c.op(Op::count, {x}), DType::Float32)}), AxisMapping::Rows, {1, 0});
  c.output(c.op(Op::mul, {x, p}), AxisMapping::Domain);
  for (std::size_t k = 0; k < 5; ++k) {  // arrays of a domain without elements have none
    c.outputs[k].extent = 3;
    c.outputs[k].memory = GuardedBytes(3 * size_of(c.outputs[k].dtype));
  }
  c.leaves[1].memory = GuardedBytes(12);
  EachIsa().run([&](Isa) {
    EXPECT_FALSE(RowProgram(c.kernel).run(c.nest(), {}).any());
    for (std::int64_t r = 0; r < 3; ++r) {
      const auto at = [&](std::size_t k) {
        const auto size = static_cast<std::int64_t>(size_of(c.outputs[k].dtype));
        return read(c.outputs[k].dtype, c.outputs[k].memory.data() + r * size);
      };
      EXPECT_EQ(as<float>(at(0)), 4.f);
      EXPECT_EQ(as<float>(at(1)), 1.f);
      EXPECT_EQ(at(2), 0u);
      EXPECT_EQ(at(3), 1u);
      EXPECT_TRUE(std::isnan(as<float>(at(4))));
    }
  });
}

TEST(CpuRowProgram, NoRows) {
  RowCase c({0, 5}, {false, true});
  c.output(c.op(Op::amax, {c.leaf(DType::Float32)}), AxisMapping::Rows);
  EXPECT_FALSE(RowProgram(c.kernel).run(c.nest(), {}).any());
}

TEST(CpuRowProgram, TellsOfDivisionsByZero) {
  RowCase c({40, 3000}, {false, true});
  const Operand x = c.leaf(DType::Int64);
  c.output(c.op(Op::sum, {c.op(Op::remainder, {x, x})}), AxisMapping::Rows);
  auto* const at = reinterpret_cast<std::int64_t*>(c.leaves[0].memory.data());
  std::fill_n(at, 120'000, 7);
  const RowProgram program(c.kernel);
  const LoopNest nest = c.nest();
  EXPECT_FALSE(program.run(nest, {}).any());
  at[70'000] = 0;
  EXPECT_TRUE(program.run(nest, {}).division_by_zero);
}

/// How rows are split depends only on sizes: one thread or several give the same bits.
TEST(CpuRowProgram, ThreadsDoNotChangeResults) {
  std::minstd_rand random(seed_of_tests());
  struct Shape {
    Extents extents;
    std::vector<bool> reduced;
  };
  const tbb::global_control eight(tbb::global_control::max_allowed_parallelism, 8);
  for (const Shape& shape :
       {Shape{{1, 400'001}, {false, true}}, Shape{{5'000'001}, {true}}, Shape{{700, 700}, {false, true}},
        Shape{{90'000, 5}, {true, false}}, Shape{{40'000, 30}, {true, false}}, Shape{{700, 700}, {true, false}}}) {
    RowCase c(shape.extents, shape.reduced);
    const Operand x = c.leaf(DType::Float32);
    const Operand e = c.op(Op::exp, {c.op(Op::sub, {x, c.op(Op::amax, {x})})});
    c.output(c.op(Op::div, {e, c.op(Op::sum, {e})}), AxisMapping::Domain);
    c.output(c.op(Op::sum, {x}), AxisMapping::Kept);
    fill_small(c.leaves[0], random);
    const LoopNest nest = c.nest();
    const RowProgram program(c.kernel);
    const auto bytes = [&](int threads) {
      tbb::task_arena(threads).execute([&] { program.run(nest, {}); });
      std::vector<std::byte> all;
      for (const Array& a : c.outputs)
        all.insert(all.end(), a.memory.data(),
                   a.memory.data() + a.extent * static_cast<std::int64_t>(size_of(a.dtype)));
      return all;
    };
    const std::vector<std::byte> one = bytes(1);
    for (int run = 0; run < 3; ++run) EXPECT_EQ(one, bytes(8));
  }
}

}  // namespace
}  // namespace sinter::test
