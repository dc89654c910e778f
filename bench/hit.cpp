// Host time of an evaluation whose kernel is ready: three elements, so that the arithmetic costs nothing. "bare" is the
// unavoidable part: the call that launches a kernel with as many operands.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <sinter/runtime/backend.hpp>
#include <sinter/sinter.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sn = sinter;

namespace {

template <class D, std::size_t N>
using Operands = std::array<sn::Tensor<float, D>, N>;

/// If requested, every second operand is broadcast along the first axis.
template <std::size_t N, class D>
Operands<D, N> operands(const D& device, bool broadcast) {
  Operands<D, N> all;
  for (std::size_t i = 0; i < N; ++i)
    all[i] = broadcast && i % 2 == 1 ? sn::Tensor<float, D>(sn::ones({3}, device))
                                     : sn::Tensor<float, D>(sn::ones({3, 3}, device));
  return all;
}

template <class D, std::size_t N, std::size_t... I>
auto sum(const Operands<D, N>& all, std::index_sequence<I...>) {
  return (all[I] + ...);
}

template <std::size_t N, class D>
void hit(benchmark::State& state, D device, bool broadcast) {
  const auto all = operands<N>(device, broadcast);
  auto out = sn::Tensor<float, D>(sn::empty({3, 3}, device));
  const auto evaluate = [&] { out.assign(sum(all, std::make_index_sequence<N>{})); };
  evaluate();
  for (auto _ : state) evaluate();
  sn::synchronize();
}

/// A new result each time.
template <std::size_t N, class D>
void hit_new(benchmark::State& state, D device) {
  const auto all = operands<N>(device, false);
  const auto evaluate = [&] { return sn::Tensor<float, D>(sum(all, std::make_index_sequence<N>{})); };
  benchmark::DoNotOptimize(evaluate());
  for (auto _ : state) benchmark::DoNotOptimize(evaluate());
  sn::synchronize();
}

/// Reductions: one result of all elements, or one per row.
template <class D, class F>
void hit_reduction(benchmark::State& state, D device, F reduce) {
  const auto x = sn::Tensor<float, D>(sn::ones({2, 3}, device)), w = sn::Tensor<float, D>(sn::ones({3}, device));
  auto out = sn::Tensor<float, D>(reduce(x, w));
  for (auto _ : state) out.assign(reduce(x, w));
  sn::synchronize();
}
constexpr auto sum_of_all = [](const auto& x, const auto&) { return sn::sum(x); };
constexpr auto softmax_of_rows = [](const auto& x, const auto&) { return sn::softmax(x, -1); };
constexpr auto norm_of_rows = [](const auto& x, const auto& w) { return sn::layer_norm(x, {3}, w, w); };

/// One expression evaluated by several threads, each with its own operands and result.
void shared_by_threads(benchmark::State& state) {
  const auto all = operands<5>(sn::cuda<>, false);
  auto out = sn::Tensor<float, sn::Cuda<>>(sn::empty({3, 3}, sn::cuda<>));
  const auto evaluate = [&] { out.assign(sum(all, std::make_index_sequence<5>{})); };
  evaluate();
  for (auto _ : state) evaluate();
  sn::synchronize();
}

/// Allocation from the pool's cached memory.
void pool(benchmark::State& state, sn::Device device) {
  auto& backend = sn::runtime::backend(device);
  constexpr std::size_t bytes = 4096;
  for (auto _ : state) {
    void* const data = backend.allocate(bytes);
    benchmark::DoNotOptimize(data);
    backend.deallocate(data, bytes);
  }
}

/// The same sum, launched by hand: a virtual GPU's time to run it is not part of a hit.
template <std::size_t N>
void bare(benchmark::State& state) {
  namespace runtime = sn::runtime;
  auto& gpu = runtime::gpu(0);
  const std::string name = "bare" + std::to_string(N);
  std::string text =
      "struct Params { float* at[" + std::to_string(N + 1) + "]; };\n" + "extern \"C\" __global__ void " + name +
      "(const __grid_constant__ Params p) {\n" + "  const unsigned threads = gridDim.x * blockDim.x;\n" +
      "  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < 9; i += threads)\n    p.at[0][i] = 0.0f";
  for (std::size_t i = 1; i <= N; ++i) text += " + p.at[" + std::to_string(i) + "][i]";
  text += ";\n}\n";
  const auto function = gpu.load(gpu.compile({name, text}), name);
  const auto all = operands<N + 1>(sn::cuda<>, false);
  std::array<std::uint64_t, N + 1> words;
  for (std::size_t i = 0; i <= N; ++i) words[i] = reinterpret_cast<std::uint64_t>(all[i].data());
  const runtime::Launch launch{function.handle(), 1, 256, 0, words, N + 1};
  for (auto _ : state) gpu.launch(launch);
  sn::synchronize();
}

template <std::size_t N>
void add() {
  const std::string n = std::to_string(N);
  benchmark::RegisterBenchmark(("cpu/" + n).c_str(), [](auto& state) { hit<N>(state, sn::cpu, false); });
  benchmark::RegisterBenchmark(("cpu_new/" + n).c_str(), [](auto& state) { hit_new<N>(state, sn::cpu); });
  if (!sn::cuda_is_available()) return;
  benchmark::RegisterBenchmark(("bare/" + n).c_str(), [](auto& state) { bare<N>(state); });
  benchmark::RegisterBenchmark(("gpu/" + n).c_str(), [](auto& state) { hit<N>(state, sn::cuda<>, false); });
  benchmark::RegisterBenchmark(("gpu_broadcast/" + n).c_str(), [](auto& state) { hit<N>(state, sn::cuda<>, true); });
  benchmark::RegisterBenchmark(("gpu_new/" + n).c_str(), [](auto& state) { hit_new<N>(state, sn::cuda<>); });
}

template <class F>
void add_reduction(const std::string& name, F reduce) {
  benchmark::RegisterBenchmark(("cpu_" + name).c_str(), [=](auto& state) { hit_reduction(state, sn::cpu, reduce); });
  if (!sn::cuda_is_available()) return;
  benchmark::RegisterBenchmark(("gpu_" + name).c_str(), [=](auto& state) { hit_reduction(state, sn::cuda<>, reduce); });
}

[[maybe_unused]] const bool registered = [] {
  add<2>();
  add<5>();
  add<10>();
  add_reduction("sum/2", sum_of_all);
  add_reduction("softmax/2", softmax_of_rows);
  add_reduction("layer_norm/4", norm_of_rows);
  benchmark::RegisterBenchmark("pool/cpu", [](auto& state) { pool(state, sn::Device()); });
  if (sn::cuda_is_available()) {
    benchmark::RegisterBenchmark("pool/gpu", [](auto& state) { pool(state, sn::Device(0)); });
    benchmark::RegisterBenchmark("threads", shared_by_threads)->ThreadRange(1, 8)->UseRealTime();
  }
  return true;
}();

}  // namespace
