// Host time of an evaluation on a mesh by number of ranks: few elements, so that the arithmetic costs nothing.
// Ranks are on the CPU or on one GPU (SINTER_CUDA_DRIVER=null_driver.so: one that does nothing).
//   local/gpu/8    elementwise: no communication
//   sum/cpu/4      over the sharded dim, by loopback
#include <benchmark/benchmark.h>

#include <sinter/runtime/communicator.hpp>
#include <sinter/sinter.hpp>
#include <string>
#include <vector>

namespace sn = sinter;

namespace {

sn::Mesh ranks(sn::Device device, std::int64_t count) {
  return sn::Mesh(std::vector<sn::Device>(static_cast<std::size_t>(count), device));
}

/// "bare" is one device without a mesh.
void local(benchmark::State& state, sn::Device device) {
  const sn::Mesh mesh = ranks(device, state.range(0));
  const sn::Tensor x = sn::shard(sn::ones({8, 3}), mesh);
  sn::Tensor out = sn::empty({8, 3}, mesh);
  for (auto _ : state) out.assign((x + 2).exp() * x);
  sn::synchronize();
}
void bare(benchmark::State& state, sn::Device device) {
  const sn::Tensor<float> x = sn::ones({8, 3}, device);
  sn::Tensor<float> out = sn::empty({8, 3}, device);
  for (auto _ : state) out.assign((x + 2).exp() * x);
  sn::synchronize();
}

/// Reports the messages and bytes of an evaluation.
void sum(benchmark::State& state, sn::Device device) {
  const sn::Mesh mesh = ranks(device, state.range(0));
  const sn::Tensor x = sn::shard(sn::ones({8, 3}), mesh);
  const auto before = mesh.communicator().traffic();
  for (auto _ : state) benchmark::DoNotOptimize(sn::Tensor(x.sum(0)));
  sn::synchronize();
  const auto after = mesh.communicator().traffic();
  state.counters["messages"] =
      benchmark::Counter(static_cast<double>(after.messages - before.messages), benchmark::Counter::kAvgIterations);
  state.counters["bytes"] =
      benchmark::Counter(static_cast<double>(after.bytes - before.bytes), benchmark::Counter::kAvgIterations);
}

void add(const std::string& name, sn::Device device) {
  benchmark::RegisterBenchmark(("bare/" + name).c_str(), [=](auto& state) { bare(state, device); });
  benchmark::RegisterBenchmark(("local/" + name).c_str(), [=](auto& state) { local(state, device); })
      ->RangeMultiplier(2)
      ->Range(1, 8);
  benchmark::RegisterBenchmark(("sum/" + name).c_str(), [=](auto& state) { sum(state, device); })
      ->RangeMultiplier(2)
      ->Range(1, 8);
}

[[maybe_unused]] const bool registered = [] {
  add("cpu", sn::Device());
  if (sn::cuda_is_available()) add("gpu", sn::Device(0));
  return true;
}();

}  // namespace
