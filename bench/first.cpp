// The first evaluation of an expression on a GPU, step by step, for expressions of 5 and of 40 operations. Excludes
// loading the kernel, which the driver does.
#include <benchmark/benchmark.h>

#include <jit/cuda/source.hpp>
#include <jit/plan/class_key.hpp>
#include <jit/plan/plan.hpp>
#include <runtime/cuda/nvrtc.hpp>
#include <sinter/sinter.hpp>

namespace sn = sinter;
namespace jit = sn::jit;

namespace {

/// Additions and products, with a function at every fifth place.
jit::Graph make_graph(std::int64_t operations) {
  jit::Graph graph;
  jit::Operand recent[] = {graph.leaf(sn::DType::Float32, 0), graph.leaf(sn::DType::Float32, 1)};
  for (std::int64_t i = 0; i < operations; ++i) {
    const jit::Operand next = i % 5 == 4 ? graph.apply(i % 2 ? sn::Op::exp : sn::Op::tanh, std::span(recent, 1))
                                         : graph.apply(i % 2 ? sn::Op::add : sn::Op::mul, recent);
    recent[1] = recent[0];
    recent[0] = next;
  }
  graph.output(recent[0]);
  return graph;
}

/// The kernel's source for contiguous operands.
sn::runtime::KernelSource print(const jit::Plan& plan) {
  const jit::Kernel& kernel = plan.kernels[0];
  const jit::KernelTraits traits(kernel);
  jit::KernelClass c;
  c.vector_width = traits.vector_width;
  c.patterns.assign(traits.operands.size(), jit::AccessPattern::Contiguous);
  return {kernel.name, jit::cuda::source(kernel, traits, c)};
}

void record(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(make_graph(state.range(0)));
}
void schedule(benchmark::State& state) {
  const jit::Graph graph = make_graph(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(jit::schedule(jit::simplify(graph)));
}
void print(benchmark::State& state) {
  const jit::Plan plan = jit::schedule(jit::simplify(make_graph(state.range(0))));
  for (auto _ : state) benchmark::DoNotOptimize(print(plan));
}
/// Compiles source to a cubin for sm_90, with NVRTC loaded.
void nvrtc(benchmark::State& state) {
  const sn::runtime::KernelSource source = print(jit::schedule(jit::simplify(make_graph(state.range(0)))));
  try {
    sn::runtime::nvrtc_compile(source, "sm_90");
    for (auto _ : state) benchmark::DoNotOptimize(sn::runtime::nvrtc_compile(source, "sm_90"));
  } catch (const sn::Error& e) {
    state.SkipWithError(e.what());
  }
}

BENCHMARK(record)->Arg(5)->Arg(40);
BENCHMARK(schedule)->Arg(5)->Arg(40);
BENCHMARK(print)->Arg(5)->Arg(40);
BENCHMARK(nvrtc)->Arg(5)->Arg(40);

}  // namespace
