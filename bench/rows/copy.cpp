// A copy of as many bytes: on all threads available to the process, or by the driver within the device.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/version.h>

#include <cstring>
#include <memory>
#include <vector>

#include "../expressions/copy_gpu.hpp"
#include "suite.hpp"

namespace {

struct CpuCopy {
  explicit CpuCopy(std::size_t n) : from(n, 1.5f), to(n) {}
  void run() {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, from.size(), 262'144),
        [&](const auto& r) { std::memcpy(&to[r.begin()], &from[r.begin()], 4 * r.size()); }, tbb::static_partitioner());
    benchmark::DoNotOptimize(to.data());
  }
  void wait() {}
  std::vector<float> from, to;
};

const bench::Register registered([] {
  if (bench::options().on_gpu()) {
    bench::add_copies([](std::size_t n) { return std::make_shared<bench::GpuCopy>(n); });
  } else {
    benchmark::AddCustomContext("tbb", TBB_runtime_version());
    bench::add_copies([](std::size_t n) { return std::make_shared<CpuCopy>(n); });
  }
});

}  // namespace
