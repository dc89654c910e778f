// Expressions of many operations. Cost should be nearly linear: the time per node should not depend on their number.
#include <benchmark/benchmark.h>

#include <initializer_list>
#include <jit/cuda/source.hpp>
#include <jit/plan/class_key.hpp>
#include <jit/plan/plan.hpp>
#include <sinter/sinter.hpp>
#include <span>
#include <vector>

namespace sn = sinter;
namespace jit = sn::jit;

namespace {

void report(benchmark::State& state) {
  state.counters["per_node"] = benchmark::Counter(
      static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

sn::Lazy<float> grow(const sn::Tensor<float>& x, std::int64_t nodes) {
  sn::Lazy<float> e = x;
  for (std::int64_t i = 0; i < nodes; ++i) e = i % 2 == 0 ? e + x : e * x;
  return e;
}

/// Growing a Lazy, and destroying it.
void lazy_grow(benchmark::State& state) {
  const sn::Tensor<float> x = sn::ones({8});
  for (auto _ : state) benchmark::DoNotOptimize(grow(x, state.range(0)));
  report(state);
}
/// Growing a Lazy and evaluating it on the CPU, with a cached plan from the second time on.
void lazy_evaluate(benchmark::State& state) {
  const sn::Tensor<float> x = sn::ones({8});
  for (auto _ : state) benchmark::DoNotOptimize(sn::Tensor<float>(grow(x, state.range(0))));
  report(state);
}

/// A graph of `nodes` operations, alternating between chains and joins.
jit::Graph make_graph(std::int64_t nodes) {
  jit::Graph graph;
  jit::Operand recent[] = {graph.leaf(sn::DType::Float32, 0), graph.leaf(sn::DType::Float32, 1)};
  for (std::int64_t i = 0; i < nodes; ++i) {
    const jit::Operand next = i % 3 == 0 ? graph.apply(sn::Op::exp, std::span(recent, 1))
                                         : graph.apply(i % 3 == 1 ? sn::Op::add : sn::Op::mul, recent);
    recent[1] = recent[0];
    recent[0] = next;
  }
  graph.output(recent[0]);
  return graph;
}

void graph_record(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(make_graph(state.range(0)));
  report(state);
}
void graph_simplify(benchmark::State& state) {
  const jit::Graph graph = make_graph(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(jit::simplify(graph));
  report(state);
}
void graph_schedule(benchmark::State& state) {
  const jit::Graph graph = jit::simplify(make_graph(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(jit::schedule(graph));
  report(state);
}
/// The CUDA source of all kernels, for contiguous operands.
void graph_print(benchmark::State& state) {
  const jit::Plan plan = jit::schedule(jit::simplify(make_graph(state.range(0))));
  for (auto _ : state) {
    for (const jit::Kernel& kernel : plan.kernels) {
      jit::KernelClass c;
      c.vector_width = 4;
      c.patterns.assign(kernel.outputs.size() + kernel.inputs.size(), jit::AccessPattern::Contiguous);
      benchmark::DoNotOptimize(jit::cuda::source(kernel, jit::KernelTraits(kernel), c));
    }
  }
  report(state);
}

/// Many reductions: softmaxes of many leaves, a chain of softmaxes, or sums of products of one leaf.
enum class Many { Leaves, Chain, OfOne };
jit::Graph make_reductions(Many many, std::int64_t reductions) {
  constexpr jit::ReduceAxes last{1, true};
  jit::Graph graph;
  const jit::Operand x = graph.leaf(sn::DType::Float32, 0), y = graph.leaf(sn::DType::Float32, 1);
  const auto apply = [&](sn::Op op, std::initializer_list<jit::Operand> operands) {
    return graph.apply(op, std::span(operands.begin(), operands.size()), last);
  };
  const auto softmax = [&](jit::Operand of) {
    const jit::Operand e = apply(sn::Op::exp, {apply(sn::Op::sub, {of, apply(sn::Op::amax, {of})})});
    return apply(sn::Op::div, {e, apply(sn::Op::sum, {e})});
  };
  jit::Operand all = x, power = x;
  for (std::int64_t i = 0; i < reductions; i += many == Many::OfOne ? 1 : 2) {
    const jit::Operand leaf = graph.leaf(sn::DType::Float32, static_cast<std::uint32_t>(2 + i));
    if (many == Many::OfOne) power = apply(sn::Op::mul, {power, y});
    all = many == Many::Chain    ? softmax(all)
          : many == Many::Leaves ? apply(sn::Op::add, {all, softmax(leaf)})
                                 : apply(sn::Op::add, {all, apply(sn::Op::sum, {power})});
  }
  graph.output(all);
  return graph;
}
void schedule_reductions(benchmark::State& state, Many many) {
  const jit::Graph graph = jit::simplify(make_reductions(many, state.range(0)));
  const std::vector<sn::Shape> leaves(static_cast<std::size_t>(2 + state.range(0)), sn::Shape{64, 64});
  for (auto _ : state) benchmark::DoNotOptimize(jit::schedule(graph, leaves, jit::RowValues::StoredOnCpu));
  report(state);
}
void simplify_reductions(benchmark::State& state, Many many) {
  const jit::Graph graph = make_reductions(many, state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(jit::simplify(graph));
  report(state);
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const int nodes : {1, 10, 100, 1000, 10'000}) b->Arg(nodes);
}

BENCHMARK(lazy_grow)->Apply(sizes);
BENCHMARK(lazy_evaluate)->Apply(sizes);
BENCHMARK(graph_record)->Apply(sizes);
BENCHMARK(graph_simplify)->Apply(sizes);
BENCHMARK(graph_schedule)->Apply(sizes);
BENCHMARK(graph_print)->Apply(sizes);

void numbers(benchmark::internal::Benchmark* b) {
  for (const int reductions : {10, 100, 1000}) b->Arg(reductions);
}
BENCHMARK_CAPTURE(simplify_reductions, leaves, Many::Leaves)->Apply(numbers);
BENCHMARK_CAPTURE(simplify_reductions, chain, Many::Chain)->Apply(numbers);
BENCHMARK_CAPTURE(simplify_reductions, of_one, Many::OfOne)->Apply(numbers);
BENCHMARK_CAPTURE(schedule_reductions, leaves, Many::Leaves)->Apply(numbers);
BENCHMARK_CAPTURE(schedule_reductions, chain, Many::Chain)->Apply(numbers);
BENCHMARK_CAPTURE(schedule_reductions, of_one, Many::OfOne)->Apply(numbers);

}  // namespace
