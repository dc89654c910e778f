#include "library_kernel.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <sinter/runtime/float_environment.hpp>
#include "../cache/kernel_cache.hpp"
#include "../cuda/prelude.hpp"
#include "../stats/history.hpp"
#include "../stats/stats.hpp"

namespace sinter::inline v1::jit {

LibraryKernel::LibraryKernel(std::string name, const std::string& text)
    : source_{std::move(name),
              "namespace sinter {\n\n" + cuda::prelude_for(text) + "}  // namespace sinter\n\n" + text},
      device_count_(static_cast<std::size_t>(std::max(sinter::device_count(), 1))),
      loaded_(new KernelPointer[device_count_]) {}

void* LibraryKernel::function(Device device) const {
  KernelPointer& loaded = loaded_[static_cast<std::size_t>(device.index())];
  if (void* known = loaded.find()) {
    ThreadStats::count(stats().memory_hits);
    return known;
  }
  const std::lock_guard lock(loading_.get());  // held for long, so forking must stay possible
  if (void* known = loaded.find()) return known;
  const auto begin = std::chrono::steady_clock::now();
  runtime::GpuBackend& gpu = runtime::gpu(device.index());
  const LoadedKernel kernel = load_kernel(source_, gpu);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  remember({source_.name, device, gpu.binary_tag(), kernel.origin, took.count()});
  loaded.put(kernel.ready);
  return kernel.function.handle();
}

void LibraryKernel::launch(Device device, std::int64_t blocks, std::span<const std::uint64_t> words, unsigned pointers,
                           std::span<const runtime::BufferAccess> uses) const {
  const runtime::DefaultFloatEnvironment floats;
  const EpochGuard reading;
  void* const loaded = function(device);
  const runtime::DependencyGuard ordered(device, uses);
  runtime::gpu(device.index())
      .launch({.kernel = loaded,
               .grid = static_cast<unsigned>(blocks),
               .block = block_threads,
               .shared = 0,
               .words = words,
               .pointers = pointers});
  ThreadStats::count(stats().launches);
}

}  // namespace sinter::inline v1::jit
