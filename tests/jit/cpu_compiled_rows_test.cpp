// Compiled loops over rows, beside the interpreted ones, bit by bit.
#include <gmock/gmock.h>

#include <cstdlib>

#include "../setup.hpp"
#include "cpu_compiled_case.hpp"

namespace sinter::test {
namespace {

const Setup rows_in_memory_only([] {
  keep_kernels_in_memory();
  setenv("SINTER_CPU_JIT", "off", 1);
});

/// Inputs that are one element, one for each row, a row for all, rows that are apart or transposed, or every second
/// or third element; values of them that are the same for a row or for all; several outputs, which may be apart.
class RandomRows {
 public:
  explicit RandomRows(std::uint32_t seed) : random_(seed) {
    for (int k = 0; k < 5; ++k) {
      const DType dtype = k == 4 ? DType::Float64 : k == 3 ? DType::Float16 : DType::Float32;
      Operand x = case_.leaf(dtype);
      if (dtype == DType::Float16) x = node(Op::cast, DType::Float32, {x});
      (dtype == DType::Float64 ? doubles_ : floats_).push_back(x);
    }
    floats_.push_back(case_.graph.constant(DType::Float32, to_bits(1.5f)));
    floats_.push_back(case_.graph.scalar(DType::Float32, Category::Float, 0));
    case_.scalars = {to_bits(-0.75f)};
    while (kinds_.size() < case_.inputs.size()) kinds_.push_back(static_cast<Kind>(random_() % 9));
    if (random_() % 3 == 0) out_ = Kind::Apart;
    for (int i = seed % 3 == 0 ? 0 : 9; i > 0; --i) add();  // without them, one operation for each output
    for (int i = 0; i < 1 + static_cast<int>(random_() % 3); ++i) {
      const Operand sum = node(Op::add, DType::Float32, {floats_[0], floats_[floats_.size() - 1 - i]});
      case_.output(sum, DType::Float32);
    }
  }

  void check(const Extents& extents) {
    std::vector<Extents> strides;
    for (const Kind kind : kinds_) strides.push_back(strides_of(kind, extents));
    case_.check(extents, strides_of(out_, extents), strides, random_());
  }

 private:
  Operand node(Op op, DType dtype, const std::vector<Operand>& of) { return case_.graph.node(op, dtype, of); }
  Operand any(const std::vector<Operand>& of) { return of[random_() % of.size()]; }

  void add() {
    static constexpr Op unary[] = {Op::exp, Op::tanh, Op::sqrt, Op::neg, Op::rsqrt};
    static constexpr Op binary[] = {Op::add, Op::sub, Op::mul, Op::div, Op::maximum};
    const std::uint32_t what = random_() % 8;
    if (what < 2)
      floats_.push_back(node(unary[random_() % 5], DType::Float32, {any(floats_)}));
    else if (what < 5)
      floats_.push_back(node(binary[random_() % 5], DType::Float32, {any(floats_), any(floats_)}));
    else if (what == 5)
      doubles_.push_back(
          node(Op::mul, DType::Float64, {any(doubles_), node(Op::cast, DType::Float64, {any(floats_)})}));
    else if (what == 6)
      floats_.push_back(node(Op::cast, DType::Float32, {any(doubles_)}));
    else
      floats_.push_back(node(Op::where, DType::Float32,
                             {node(Op::lt, DType::Bool, {any(floats_), any(floats_)}), any(floats_), any(floats_)}));
  }

  enum class Kind {
    RowMajor,
    Apart,
    OneElement,
    OneOfEachRow,
    OneRow,
    Transposed,
    EverySecond,
    EverySecondApart,
    EveryThird
  };
  static Extents strides_of(Kind kind, Extents extents) {
    if (kind == Kind::Apart || kind == Kind::EverySecondApart) extents.back() += 5;
    Extents strides = row_major(extents);
    if (kind == Kind::EverySecond || kind == Kind::EverySecondApart)
      for (std::int64_t& s : strides) s *= 2;
    if (kind == Kind::EveryThird)
      for (std::int64_t& s : strides) s *= 3;
    if (kind == Kind::Transposed) std::swap(strides.back(), strides[strides.size() - 2]);
    if (kind == Kind::OneElement || kind == Kind::OneRow) strides.assign(extents.size(), 0);
    if (kind == Kind::OneRow) strides.back() = 1;
    if (kind == Kind::OneOfEachRow) {
      for (std::int64_t& s : strides) s /= extents.back();
      strides.back() = 0;
    }
    return strides;
  }

  std::mt19937 random_;
  Case case_;
  std::vector<Operand> floats_, doubles_;
  std::vector<Kind> kinds_{Kind::RowMajor};  // of the inputs
  Kind out_ = Kind::RowMajor;
};

/// Nothing is read past the last one, which guard pages follow.
TEST(CpuCompiledLoops, EverySecondElement) {
  Case c;
  std::vector<Extents> strides;
  const auto add = [&](Operand x, Operand y) { return c.graph.node(Op::add, DType::Float32, std::vector{x, y}); };
  const Operand one = c.leaf(DType::Float32), two = c.leaf(DType::Float32);
  c.output(add(one, two), DType::Float32);
  strides = {{1}, {2}};
  for (const DType dtype : {DType::Bool, DType::UInt8, DType::Int8, DType::UInt16, DType::Int16, DType::Int32,
                            DType::Float16, DType::BFloat16, DType::Float64}) {
    const Operand x = c.leaf(dtype);
    strides.push_back({2});
    c.output(add(c.graph.cast(x, DType::Float32), one), DType::Float32);
  }
  jit::cpu::LeafPatterns leaves;
  leaves.every_second = ~std::uint64_t{1};
  EXPECT_THAT(jit::cpu::make_steps(c.graph, leaves, jit::cpu::Grouping::Compiled).text,
              ::testing::HasSubstr("load_every_second<bool>"));
  EachIsa().run([&](Isa isa) {
    SCOPED_TRACE(isa_name(isa));
    for (std::int64_t n = 1; n < 70; ++n) c.check({n}, {1}, strides, seed_of_tests() + static_cast<std::uint32_t>(n));
    c.check({20'000}, {1}, strides, seed_of_tests());
  });
}

/// One program, more often than it has variants: the last ones share one.
TEST(CpuCompiledLoops, ManyPatternsOfOneProgram) {
  const Extents extents{6, 40};
  const std::vector<Extents> kinds{{0, 0}, {1, 0}, {40, 1}, {80, 2}, {120, 3}};
  for (const bool is_one_operation : {true, false}) {
    Graph graph;
    std::vector<Operand> x;
    for (std::uint32_t k = 0; k < 3; ++k) x.push_back(graph.leaf(DType::Float32, k));
    if (!is_one_operation) x[0] = graph.node(Op::neg, DType::Float32, std::vector{x[0]});
    graph.output(graph.node(Op::fma, DType::Float32, x));
    for (const CpuJit jit : {CpuJit::Off, CpuJit::Always}) {
      const When chosen(jit);
      const TileProgram program(graph);
      for (std::size_t pattern = 0; pattern < 125; ++pattern) {
        std::vector<Array> in;
        for (const std::size_t kind : {pattern / 25, pattern / 5 % 5, pattern % 5}) {
          in.push_back(make_array(DType::Float32, extents, kinds[kind]));
          for (std::int64_t i = 0; i < in.back().extent; ++i)
            write(DType::Float32, in.back().memory.data() + 4 * i, to_bits(static_cast<float>((i * 7 + 3) % 100)));
        }
        const Array out = make_array(DType::Float32, extents, {40, 1});
        program.run(make_nest(extents, {&out, &in[0], &in[1], &in[2]}, 1), {});
        for (std::int64_t i = 0; i < 240; ++i) {
          const auto of = [&](std::size_t k) { return as<float>(element(in[k], extents, i)); };
          ASSERT_EQ(as<float>(element(out, extents, i)), (is_one_operation ? of(0) : -of(0)) * of(1) + of(2))
              << "pattern " << pattern << ", element " << i;
        }
      }
    }
  }
}

/// What is the same for a row is computed in the loop, except for short rows.
TEST(CpuCompiledLoops, WorkOfARow) {
  Case c;
  const Operand x = c.leaf(DType::Float32), y = c.leaf(DType::Float32);
  const Operand root = c.graph.node(Op::rsqrt, DType::Float32, std::vector{y});
  c.output(c.graph.node(Op::mul, DType::Float32, std::vector{x, root}), DType::Float32);
  for (const bool few : {false, true}) {
    jit::cpu::LeafPatterns leaves;
    leaves.row = 2;
    leaves.few_in_row = few;
    EXPECT_EQ(jit::cpu::make_steps(c.graph, leaves, jit::cpu::Grouping::Compiled).rows.size(), few ? 1 : 0);
  }
  for (const std::int64_t n : {4, 31, 32, 100, 400}) c.check({50, n}, {n, 1}, {{n, 1}, {1, 0}}, seed_of_tests());
}

TEST(CpuCompiledLoops, RowsOfRandomPrograms) {
  for (std::uint32_t seed = seed_of_tests(); seed < seed_of_tests() + 6; ++seed) {
    SCOPED_TRACE(::testing::Message() << "program " << seed);
    for_two_isas([&](Isa isa) {
      SCOPED_TRACE(isa_name(isa));
      RandomRows program(seed);
      for (const Extents& extents :
           {Extents{3, 40}, Extents{7, 64}, Extents{2, 5, 200}, Extents{70, 33}, Extents{3, 3000}, Extents{2, 3, 7},
            Extents{40, 16}, Extents{33, 17}, Extents{20, 5}, Extents{9, 4}, Extents{50, 3}, Extents{2, 18, 300},
            Extents{5, 131}})
        program.check(extents);
    });
  }
}

}  // namespace
}  // namespace sinter::test
