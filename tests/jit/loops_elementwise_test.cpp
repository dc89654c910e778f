// Lowered kernels that do not reduce, executed by the interpreter of the loop IR: random programs over arrays of every
// layout, bit for bit as the reference of the graph.
#include <jit/loops/lower.hpp>

#include <gtest/gtest.h>

#include <jit/plan/nest.hpp>

#include "cpu_kernels.hpp"
#include "loops_launch.hpp"
#include "programs.hpp"
#include "row_kernels.hpp"
#include "setup.hpp"

namespace sinter::testing {
namespace {

void add_memory(LoopsMemory& memory, const TensorRef& t, LoopsMemory::Content content = LoopsMemory::Content::Given) {
  if (t->buffer) memory.add(static_cast<std::byte*>(t->buffer->data()), t->buffer->bytes(), content);
}

const sinter::test::Setup without_fma([] { setenv("SINTER_FMA", "off", 1); });

/// A random program with arrays, and its plan's kernels.
struct RandomCase {
  Written text;
  Shape shape;
  Graph graph;
  jit::Plan plan;
  std::vector<TensorRef> leaves, temporaries, outputs;
  std::vector<Bits> scalars;
  LoopsMemory memory;

  explicit RandomCase(std::mt19937_64& random)
      : text(random_program(random, 25, random() % 2)), shape(random_shape(random, 1500)), graph(text.record()) {
    for (std::size_t i = 0; i < text.dtypes.size(); ++i) {
      const bool is_new = text.same_as[i] == i;
      leaves.push_back(is_new
                           ? random_array(text.dtypes[i], broadcastable(shape, random), Device(), Layout::Any, random)
                           : leaves[text.same_as[i]]);
      if (is_new) add_memory(memory, leaves.back());
    }
    scalars = text.scalar_values(random);
    for (const Node& n : graph.nodes())  // numbers that do not fit are refused
      if (n.op == Op::scalar && category(n.dtype) == Category::Int && n.dtype != DType::Int64)
        scalars[jit::scalar_use(n).number] &= 0x7F;
    plan = jit::schedule(jit::simplify(graph));
    for (const DType t : plan.temporaries) temporaries.push_back(allocate(t));
    for (const Operand o : graph.outputs()) outputs.push_back(allocate(graph[o].dtype));
  }

  void run(std::mt19937_64& random) {
    for (const jit::Kernel& k : plan.kernels) run(k, random);
  }

  void check() const {
    std::vector<std::vector<Bits>> inputs, got;
    for (const TensorRef& t : leaves) inputs.push_back(values_over(*t, shape));
    for (const TensorRef& t : outputs) got.push_back(values_of(*t));
    for (std::size_t e = 0; e < static_cast<std::size_t>(shape.numel()); ++e) {
      std::vector<Bits> at;
      for (const auto& values : inputs) at.push_back(values[e]);
      const std::vector<Bits> expected = outputs_of(graph, at, scalars);
      for (std::size_t k = 0; k < outputs.size(); ++k)
        ASSERT_TRUE(same_value(outputs[k]->dtype, expected[k], got[k][e]))
            << "output " << k << " at " << e << ": " << test::show(outputs[k]->dtype, got[k][e]) << ", expected "
            << test::show(outputs[k]->dtype, expected[k]) << "\n"
            << to_text(plan.graph);
    }
  }

 private:
  TensorRef allocate(DType t) {
    TensorRef array = runtime::empty(shape, t, Device());
    add_memory(memory, array, LoopsMemory::Content::Unwritten);
    return array;
  }
  TensorImpl* array(const jit::Slot& s) const {
    return (s.kind == jit::Slot::Kind::Output      ? outputs
            : s.kind == jit::Slot::Kind::Temporary ? temporaries
                                                   : leaves)[s.number]
        .get();
  }

  /// In its own class, with 64-bit indices, or in the class that holds every nest.
  void run(const jit::Kernel& k, std::mt19937_64& random) {
    std::vector<TensorImpl*> operands;
    for (const jit::Slot& s : k.outputs) operands.push_back(array(s));
    for (const jit::Slot& s : k.inputs) operands.push_back(array(s));
    jit::LoopNest nest;
    jit::make_nest(nest, operands, static_cast<int>(k.outputs.size()));
    LoopsLaunch launch{k, nest, class_of(k, nest)};
    if (random() % 4 == 0) launch.kernel_class.wide = true;
    if (random() % 8 == 0) launch.kernel_class = generic_class(jit::KernelTraits(k));
    launch.threads = 32 << random() % 3;
    for (const Node& n : k.graph.nodes()) {
      if (n.op != Op::scalar) continue;
      const jit::ScalarUse use = jit::scalar_use(n);
      jit::Scalar s(false);
      s.bits = scalars[use.number];
      launch.scalars.push_back(jit::scalar_word(s, use.arrives_as, n.dtype));
    }
    LoopsLauncher(launch, memory).run();
  }
};

TEST(LoopsElementwise, RandomPrograms) {
  const std::uint32_t seed = test::seed_of_tests();
  for (const unsigned i : programs_of_tests(250)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", program " << i);
    std::mt19937_64 random(seed * 1000003ull + i);
    RandomCase c(random);
    if (c.shape.numel() == 0) continue;
    ASSERT_NO_THROW(c.run(random));
    ASSERT_NO_FATAL_FAILURE(c.check());
  }
}

/// The class of large nests of x, x^T and a row, which are tiled, where extents allow that.
jit::KernelClass tiled_class_of(const jit::Kernel& k, const jit::LoopNest& nest) {
  jit::ClassKey key = classify(jit::KernelTraits(k), nest, false);
  const int width = std::min(key.vector_width(), 4);
  if (width == 1 || nest.ndim != 2 || nest.extents[0] % (jit::warp_tiles_tile_dim * width) != 0 ||
      nest.extents[1] % (jit::warp_tiles_inner * width) != 0)
    return key.decode(4);
  key.replace_pattern(0, jit::AccessPattern::InnerContiguous),
      key.replace_pattern(1, jit::AccessPattern::InnerContiguous);
  key.replace_pattern(2, jit::AccessPattern::Transposed);
  key.set_tile(0, width);
  return key.decode(4);
}

/// z = x + 2 y + p, where y is transposed and p one row.
TEST(LoopsElementwise, TransposedOperands) {
  for (const DType t : {DType::Float32, DType::Float16, DType::Float64})
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{64, 64}, {16, 96}, {32, 33}, {1, 64}}) {
      SCOPED_TRACE(::testing::Message() << name(t) << ' ' << rows << " x " << columns);
      std::mt19937_64 random(test::seed_of_tests());
      jit::Kernel k;
      k.name = "tiles";
      const DType held = test::held(t);
      const auto leaf = [&](std::uint32_t n) {
        k.inputs.push_back({jit::Slot::Kind::Leaf, n});
        return k.graph.cast(k.graph.leaf(t, n), held);
      };
      const Operand x = leaf(0), y = leaf(1), p = leaf(2);
      const Operand terms[] = {x, k.graph.apply(Op::add, std::array{y, y})};
      const Operand sum[] = {k.graph.apply(Op::add, terms), p};
      k.graph.output(k.graph.cast(k.graph.apply(Op::add, sum), t));
      k.outputs.push_back({jit::Slot::Kind::Output, 0});
      const Shape shape{rows, columns};
      const TensorRef out = runtime::empty(shape, t, Device()),
                      operands[] = {random_array(t, shape, Device(), Layout::Contiguous, random),
                                    transposed(random_array(t, {columns, rows}, Device(), Layout::Contiguous, random)),
                                    random_array(t, {1, columns}, Device(), Layout::Contiguous, random)};
      LoopsMemory memory;
      add_memory(memory, out, LoopsMemory::Content::Unwritten);
      std::vector<TensorImpl*> pointers{out.get()};
      std::vector<std::vector<Bits>> inputs;
      for (const TensorRef& o : operands) {
        add_memory(memory, o);
        pointers.push_back(o.get());
        inputs.push_back(values_over(*o, shape));
      }
      jit::LoopNest nest;
      jit::make_nest(nest, pointers, 1);
      const LoopsLaunch launch{k, nest, tiled_class_of(k, nest)};
      ASSERT_NO_THROW(LoopsLauncher(launch, memory).run());
      const std::vector<Bits> got = values_of(*out);
      for (std::size_t e = 0; e < got.size(); ++e) {
        const Bits at[] = {inputs[0][e], inputs[1][e], inputs[2][e]};
        ASSERT_TRUE(same_value(t, outputs_of(k.graph, at, {})[0], got[e])) << e;
      }
    }
}

/// Of an array of 5 numbers those at positions, some of which are none: these count as 0, and are noted.
TEST(LoopsElementwise, Gathers) {
  const std::vector<float> entries{1, 10, 100, 1000, 10000};
  for (const std::int64_t count : {1, 4, 1023, 1024})
    for (const bool is_faulty : {false, true}) {
      SCOPED_TRACE(::testing::Message() << count << " elements" << (is_faulty ? ", of which one is not there" : ""));
      Written w;
      w.array(DType::Float32).leaf(DType::Int64).constant(5).constant(1).op(Op::axis_offset).op(Op::load);
      w.leaf(DType::Float32).op(Op::add);
      const jit::Plan plan = jit::schedule(jit::simplify(w.record()));
      ASSERT_EQ(plan.kernels.size(), 1u);
      std::vector<std::int64_t> places(static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i * 3 % 10) - 5;
      if (is_faulty) places.back() = 5;
      const std::vector<float> x(places.size(), 0.5f);
      const TensorRef leaves[] = {upload(entries, {5}, Device()), upload(places, {count}, Device()),
                                  upload(x, {count}, Device())},
                      out = runtime::empty(Shape{count}, DType::Float32, Device());
      LoopsMemory memory;
      add_memory(memory, out, LoopsMemory::Content::Unwritten);
      std::vector<TensorImpl*> operands{out.get()};
      for (const jit::Slot& s : plan.kernels[0].inputs) {
        operands.push_back(leaves[s.number].get());
        add_memory(memory, leaves[s.number]);
      }
      jit::LoopNest nest;
      jit::make_nest(nest, operands, 1, plan.kernels[0].arrays);
      const LoopsLaunch launch{plan.kernels[0], nest, class_of(plan.kernels[0], nest)};
      EXPECT_EQ(LoopsLauncher(launch, memory).run().index_out_of_range, is_faulty);
      const std::vector<float> got = download<float>(out);
      for (std::size_t i = 0; i < places.size() - is_faulty; ++i)
        ASSERT_EQ(got[i], entries[static_cast<std::size_t>(places[i] < 0 ? places[i] + 5 : places[i])] + 0.5f) << i;
    }
}

bool has_run(const jit::loops::LoopProgram& program) {
  return std::ranges::any_of(program.code, [](const jit::loops::Instruction& i) {
    return i.code == jit::loops::Opcode::Load && i.attribute == static_cast<std::uint64_t>(jit::loops::Access::Run);
  });
}

/// Of a matrix, the first columns of the rows at positions: vectors, which are aligned if its row stride is even.
TEST(LoopsElementwise, RowsOfAMatrix) {
  constexpr std::int64_t rows = 7, count = 37;
  for (const std::int64_t columns : {1, 2, 3, 12, 16})
    for (const std::int64_t row_stride : {columns, columns + 1, columns + 2, columns + 4})
      for (const bool is_wide : {false, true}) {
        SCOPED_TRACE(::testing::Message() << columns << " of " << row_stride << " columns");
        Written w;
        w.array(DType::Float32).leaf(DType::Int64).constant(rows).constant(row_stride).op(Op::axis_offset);
        w.leaf(DType::Int64).op(Op::add).op(Op::load).leaf(DType::Float32).op(Op::add);
        constexpr bool lacks_memory[] = {false, false, true, false};
        const Graph graph = jit::record(w.program(), w.dtypes, w.same_as, lacks_memory);
        const jit::Plan plan = jit::schedule(jit::simplify(graph));
        ASSERT_EQ(plan.kernels.size(), 1u);
        const jit::Kernel& k = plan.kernels[0];
        std::vector<float> entries(static_cast<std::size_t>(rows * row_stride)), x(count * columns, 0.5f);
        for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = static_cast<float>(i);
        std::vector<std::int64_t> places(count);
        for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i * 5 % 14) - 7;
        const TensorRef leaves[] = {upload(entries, {rows * row_stride}, Device()),
                                    upload(places, {count, 1}, Device()), runtime::iota_tensor({columns}, Device()),
                                    upload(x, {count, columns}, Device())};
        const TensorRef out = runtime::empty(Shape{count, columns}, DType::Float32, Device());
        LoopsMemory memory;
        add_memory(memory, out, LoopsMemory::Content::Unwritten);
        std::vector<TensorImpl*> operands{out.get()};
        for (const jit::Slot& s : k.inputs) {
          operands.push_back(leaves[s.number].get());
          add_memory(memory, leaves[s.number]);
        }
        jit::LoopNest nest;
        jit::make_nest(nest, operands, 1, k.arrays);
        LoopsLaunch launch{k, nest, class_of(k, nest)};
        EXPECT_EQ(launch.kernel_class.vector_width, columns == 1 || columns % 4 == 0 ? 4 : 1);  // 1: a vector of rows
        launch.kernel_class.wide |= is_wide;
        EXPECT_EQ(has_run(jit::loops::lower(k, jit::KernelTraits(k), launch.kernel_class)), columns % 4 == 0);
        EXPECT_FALSE(LoopsLauncher(launch, memory).run().any());
        const std::vector<float> got = download<float>(out);
        for (std::int64_t i = 0; i < count * columns; ++i) {
          const std::int64_t row = (places[static_cast<std::size_t>(i / columns)] + rows) % rows;
          ASSERT_EQ(got[static_cast<std::size_t>(i)], static_cast<float>(row * row_stride + i % columns) + 0.5f) << i;
        }
      }
}

}  // namespace
}  // namespace sinter::testing
