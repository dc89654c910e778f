// Evaluations inside the caller's own parallel loops.
#include <jit/cpu/tile_program.hpp>

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <vector>

namespace sinter::test {
namespace {

/// A thread that waits for the rest of its evaluation must not start another of the caller's tasks: where the caller
/// holds a lock, that one would wait for it for ever.
TEST(CpuTileProgramThreads, StartNoTaskOfTheCallers) {
  constexpr std::int64_t n = 1'000'000;
  jit::Graph graph;
  const jit::Operand x[] = {graph.leaf(DType::Float32, 0)};
  graph.output(graph.node(Op::sin, DType::Float32, x));
  const jit::cpu::TileProgram program(graph);
  std::vector<float> in(n, 0.5f);
  const auto evaluate = [&] {
    thread_local std::vector<float> out(n);
    jit::LoopNest nest;
    nest.numel = nest.extents[0] = n;
    for (float* p : {out.data(), in.data()}) nest.operands.push_back({reinterpret_cast<std::byte*>(p), {1}});
    program.run(nest, {});
  };
  std::atomic<bool> entered_twice = false;
  static thread_local bool inside = false;
  const tbb::global_control eight(tbb::global_control::max_allowed_parallelism, 8);  // on whatever machine
  tbb::task_arena(8).execute([&] {
    tbb::parallel_for(0, 2000, [&](int) {
      if (inside) {
        entered_twice = true;
        return;
      }
      inside = true;
      evaluate();
      inside = false;
    });
  });
  EXPECT_FALSE(entered_twice);
}

}  // namespace
}  // namespace sinter::test
