// The driver's copy within the device, and a kernel of multiply-adds in registers.
#include <array>
#include <cstdint>
#include <memory>
#include <sinter/runtime/backend.hpp>
#include <sinter/sinter.hpp>
#include <string>

#include "copy_gpu.hpp"
#include "limit.hpp"

namespace {

namespace runtime = sinter::runtime;

constexpr int chains = 8, rounds = 1000, block = 256;
constexpr const char* text = R"(
struct Params { float* to; };
extern "C" __global__ void peak(const __grid_constant__ Params p) {
  float sums[8];
  for (int i = 0; i < 8; ++i) sums[i] = threadIdx.x * 0.001f + i;
  const float factor = p.to[0];
  for (int round = 0; round < 1000; ++round)
#pragma unroll
    for (int i = 0; i < 8; ++i) sums[i] = fmaf(sums[i], factor, 0.001f);
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += sums[i];
  if (sum == 12345.678f) p.to[1] = sum;
}
)";

struct Peak {
  Peak() : to(sinter::full({2}, 0.999f, sinter::cuda<>)) {
    function = gpu.load(gpu.compile({"peak", text}), "peak");
    blocks = static_cast<unsigned>(64 * gpu.multiprocessors());
    words[0] = reinterpret_cast<std::uint64_t>(to.data());
  }
  void run() { gpu.launch({function.handle(), blocks, block, 0, words, 1}); }
  void wait() { gpu.synchronize(); }
  runtime::GpuBackend& gpu = runtime::gpu(sinter::current_device());
  sinter::Tensor<float, sinter::Cuda<>> to;
  runtime::KernelHandle function;
  unsigned blocks = 1;
  std::array<std::uint64_t, 1> words;
};

void peak(benchmark::State& state) {
  Peak kernel;
  kernel.run();
  kernel.wait();
  bench::repeat(state, kernel);
  bench::report_peak(state, 2.0 * chains * rounds * block * kernel.blocks);
}

const bench::Register registered([] {
  if (!bench::options().on_gpu()) return;
  bench::add_limits(2, [](std::size_t n) { return std::make_shared<bench::GpuCopy>(n); });
  benchmark::RegisterBenchmark("limit/peak/0", peak)->UseRealTime();
});

}  // namespace
