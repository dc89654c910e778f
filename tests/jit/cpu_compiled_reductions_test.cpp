// Loops that reduce the rows they compute, beside the library's reducers, bit by bit.
#include <cstdlib>
#include <cstring>
#include <limits>

#include <jit/cpu/worker.hpp>
#include "../scratch.hpp"
#include "../setup.hpp"
#include "cpu_compiled_case.hpp"
#include "cpu_row_kernels.hpp"

namespace sinter::test {
namespace {

using jit::cpu::FusedWork;
using jit::cpu::RowProgram;
using jit::cpu::SharedFaults;
using Reducing = TileProgram::Reducing;

const Setup reductions_in_memory_only([] {
  keep_kernels_in_memory();
  setenv("SINTER_CPU_JIT", "off", 1);
});

constexpr Op reductions[] = {Op::sum, Op::prod, Op::amax, Op::amin};

/// Numbers around 1, zeros of either sign, now and then what is no finite number.
void fill_signed(Array& a, std::mt19937& random, bool is_special) {
  static constexpr float special[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                                      -std::numeric_limits<float>::infinity()};
  std::uniform_real_distribution<float> unit(0.9f, 1.1f);
  for (std::int64_t i = 0; i < a.extent; ++i) {
    float v = unit(random) * (random() % 2 == 0 ? 1.f : -1.f);
    if (random() % 8 == 0) v = random() % 2 == 0 ? 0.f : -0.f;
    if (is_special && random() % 500 == 0) v = special[random() % 3];
    write(a.dtype, a.memory.data() + i * static_cast<std::int64_t>(size_of(a.dtype)),
          visit_real(a.dtype, [&]<class T>(std::type_identity<T>) { return to_bits(static_cast<T>(v)); }));
  }
}

/// One to three reductions of computed elements, some of which read an earlier one's result, and elements of a last
/// pass.
class RandomReductions {
 public:
  RandomReductions(std::uint32_t seed, Extents extents) : random_(seed), case_(extents, reduced_axes(extents.size())) {
    elements_ = {case_.leaf(DType::Float32), halves(), case_.leaf(DType::Float32, AxisMapping::Domain, apart(extents))};
    per_row_ = {case_.leaf(DType::Float32, AxisMapping::Kept), case_.number(0.5f)};
    for (int n = 1 + static_cast<int>(random_() % 3); n > 0; --n) {
      const Operand of = random_() % 4 == 0 ? elements_.back() : element();
      per_row_.push_back(case_.op(reductions[random_() % 4], {of}));
      case_.output(per_row_.back(), AxisMapping::Kept);
      if (random_() % 4 == 0) case_.output(case_.op(Op::argmax, {of}), AxisMapping::Kept);  // reads the same elements
    }
    if (random_() % 2 == 0) case_.output(random_() % 2 == 0 ? elements_.back() : element(), AxisMapping::Domain);
  }

  void check() {
    for (Array& a : case_.leaves) fill_signed(a, random_, random_() % 2 == 0);
    const std::vector<std::vector<std::byte>> interpreted = run(CpuJit::Off), compiled = run(CpuJit::Always);
    for (std::size_t k = 0; k < compiled.size(); ++k) compare(interpreted[k], compiled[k], k);
  }

 private:
  static std::vector<bool> reduced_axes(std::size_t dims) {
    std::vector<bool> axes(dims);
    axes.back() = true;
    return axes;
  }
  static std::size_t bytes_of(const Array& a) { return static_cast<std::size_t>(a.extent) * size_of(a.dtype); }
  static Extents apart(Extents extents) {
    extents.back() += 3;
    return row_major(extents);
  }
  Operand halves() {
    const Operand x = case_.leaf(random_() % 2 == 0 ? DType::Float16 : DType::BFloat16);
    return case_.graph().cast(x, DType::Float32);
  }
  Operand any(const std::vector<Operand>& of) { return of[random_() % of.size()]; }
  Operand element() {
    static constexpr Op unary[] = {Op::exp, Op::neg, Op::square, Op::abs, Op::tanh, Op::sin};
    static constexpr Op binary[] = {Op::sub, Op::mul, Op::maximum, Op::add};
    Operand v = case_.op(binary[random_() % 4], {any(elements_), any(random_() % 2 == 0 ? elements_ : per_row_)});
    if (random_() % 2 == 0) v = case_.op(unary[random_() % 6], {v});
    elements_.push_back(v);
    return v;
  }

  std::vector<std::vector<std::byte>> run(CpuJit when) {
    const When chosen(when);
    for (Array& a : case_.outputs) std::memset(a.memory.data(), 0x5A, bytes_of(a));
    const RowProgram program(case_.kernel);
    EXPECT_FALSE(program.run(case_.nest(), case_.scalars).any());
    std::vector<std::vector<std::byte>> bytes;
    for (const Array& a : case_.outputs) bytes.emplace_back(a.memory.data(), a.memory.data() + bytes_of(a));
    return bytes;
  }
  void compare(const std::vector<std::byte>& a, const std::vector<std::byte>& b, std::size_t output) const {
    for (std::size_t at = 0; at < a.size(); at += sizeof(float)) {
      float x, y;
      std::memcpy(&x, &a[at], sizeof x);
      std::memcpy(&y, &b[at], sizeof y);
      if (x != x && y != y) continue;
      ASSERT_EQ(to_bits(x), to_bits(y)) << x << " and " << y << ", output " << output << ", element " << at / sizeof x;
    }
  }

  std::mt19937 random_;
  RowCase case_;
  std::vector<Operand> elements_, per_row_;
};

/// How many of the loops that were compiled reduce rows.
int reducing_loops(const std::filesystem::path& dumped) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(dumped))
    count += testing::read_text(file.path()).find("for_each_reduced_block") != std::string::npos;
  return count;
}

TEST(CpuCompiledReductions, HaveTheReducersBits) {
  const testing::ScratchFolder dumped;
  const testing::ScopedVariable dump("SINTER_DUMP_DIR", dumped.path().string());
  for (std::uint32_t seed = seed_of_tests(); seed < seed_of_tests() + 3; ++seed)
    for_two_isas([&](Isa isa) {
      for (const Extents& extents : {Extents{5, 8}, Extents{5, 9}, Extents{2, 3, 31}, Extents{7, 64}, Extents{6, 100},
                                     Extents{3, 128}, Extents{1, 1000}, Extents{4, 1024}, Extents{3, 1025},
                                     Extents{2, 2, 2048}, Extents{2, 5000}, Extents{300, 700}, Extents{2, 70'000}}) {
        SCOPED_TRACE(::testing::Message()
                     << isa_name(isa) << ", seed " << seed << ", " << extents.back() << " elements in a row");
        RandomReductions(seed, extents).check();
      }
    });
  EXPECT_GT(reducing_loops(dumped.path()), 0);
}

/// x * x, and its sums along rows.
struct SquaresAndSums {
  explicit SquaresAndSums(bool is_stored) {
    const Operand x = graph.leaf(DType::Float32, 0);
    graph.output(graph.node(Op::mul, DType::Float32, std::vector{x, x}));
    fused.reductions = {{Op::sum, 0, is_stored, 1}};
  }
  /// Rows of 100 ones, whose squares are sought at `squares`.
  LoopNest nest(std::int64_t rows, float* squares, float* x, double* sums, std::int64_t step = 1) {
    LoopNest nest;
    nest.ndim = 2;
    nest.extents[0] = rows, nest.extents[1] = 100;
    nest.numel = rows * 100;
    nest.operands.resize(3);
    nest.operands[0] = {reinterpret_cast<std::byte*>(squares), {100, 1}, 0};
    nest.operands[1] = {reinterpret_cast<std::byte*>(x), {100 * step, step}, 0};
    nest.operands[2] = {reinterpret_cast<std::byte*>(sums), {1, 0}, 0};
    return nest;
  }
  Graph graph;
  FusedWork fused;
};

TEST(CpuCompiledReductions, LeaveOutElementsThatNobodyReads) {
  for (const bool is_stored : {true, false}) {
    SquaresAndSums program(is_stored);
    std::vector<float> squares(300, 7), x(300, 2);
    std::vector<double> sums{1, 2, 3};
    SharedFaults faults;
    const When always(CpuJit::Always);
    const TileProgram tiles(program.graph, "test", program.fused);
    const LoopNest nest = program.nest(3, squares.data(), x.data(), sums.data());
    ASSERT_EQ(tiles.run_reducing(nest, nullptr, {}, faults), Reducing::Done);
    EXPECT_EQ(sums, (std::vector<double>{401, 402, 403})) << "states are added to";
    EXPECT_EQ(squares, std::vector<float>(300, is_stored ? 4 : 7));
  }
}

TEST(CpuCompiledReductions, AreDoneOnlyByCompiledLoopsThatReadRowsInPlace) {
  SquaresAndSums program(true);
  std::vector<float> squares(300, 7), x(900, 2);
  std::vector<double> sums(3, 0);
  SharedFaults faults;
  const TileProgram tiles(program.graph, "test", program.fused);
  const auto run = [&](CpuJit jit, std::int64_t step) {
    const When when(jit);
    return tiles.run_reducing(program.nest(3, squares.data(), x.data(), sums.data(), step), nullptr, {}, faults);
  };
  EXPECT_EQ(run(CpuJit::Off, 1), Reducing::NotYet);
  EXPECT_EQ(run(CpuJit::Hot, 1), Reducing::NotYet);
  EXPECT_EQ(run(CpuJit::Always, 3), Reducing::Never) << "every third element is packed";
  EXPECT_EQ(sums, std::vector<double>(3, 0));
  EXPECT_EQ(squares, std::vector<float>(300, 7));
  EXPECT_EQ(run(CpuJit::Always, 1), Reducing::Done);
  EXPECT_EQ(run(CpuJit::Off, 1), Reducing::Done) << "what is compiled stays in use";
}

TEST(CpuCompiledReductions, AreGivenUpWhereALoopCannotHoldThePass) {
  SquaresAndSums program(true);
  Graph graph;
  graph.output(graph.node(Op::sin, DType::Float32, std::vector{graph.leaf(DType::Float32, 0)}));
  std::vector<float> out(300, 7), in(300, 2);
  std::vector<double> sums(3, 0);
  SharedFaults faults;
  const When always(CpuJit::Always);
  const TileProgram tiles(graph, "test", program.fused);
  const LoopNest nest = program.nest(3, out.data(), in.data(), sums.data());
  EXPECT_FALSE(tiles.prepare_reducing(nest));
  EXPECT_EQ(tiles.run_reducing(nest, nullptr, {}, faults), Reducing::Never) << "sin calls a library";
}

}  // namespace
}  // namespace sinter::test
