#include "compile.hpp"

#include <fmt/format.h>

#include <atomic>
#include <optional>

#include <runtime/deep_threads.hpp>
#include <runtime/log.hpp>
#include <runtime/trace/span.hpp>
#include "../inspect/stats.hpp"
#include "disk_cache.hpp"
#include "dump.hpp"

namespace sinter::inline v1::jit {
namespace {

using Clock = std::chrono::steady_clock;
using runtime::TraceCategory;
using std::chrono::milliseconds;

std::atomic<milliseconds> patience{milliseconds(1000)};

void tell_once(const KernelKey& key) {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return;
  const DiskCache* disk = disk_cache();
  runtime::notice(fmt::format("compiling kernel {} takes a while. {} (SINTER_QUIET=1 turns this message off)", key.name,
                              disk ? "It is kept in " + disk->folder() + " for other processes"
                                   : "It is kept for this process alone: see SINTER_CACHE"));
}

std::string compile(const KernelKey& key, runtime::GpuBackend& device) {
  const runtime::TraceSpan span(TraceCategory::Compile, key.name, {{"by", 0, "the compiler"}});
  const Clock::time_point begin = Clock::now();
  const milliseconds limit = patience.load();
  bool told = false;
  const auto tell = [&] {
    told = true;
    tell_once(key);
  };
  std::string binary;
  runtime::run_deep([&] { binary = device.compile({key.name, key.text}); }, limit, tell);
  const Clock::duration took = Clock::now() - begin;
  if (!told && took >= limit) tell_once(key);
  count_compile(took);
  if (runtime::logs(runtime::Log::Jit))
    runtime::log(runtime::Log::Jit,
                 fmt::format("compiled {} in {:.1f} ms: {} bytes for {}", key.name,
                             std::chrono::duration<double, std::milli>(took).count(), binary.size(), key.target));
  return binary;
}

Binary compile_and_keep(const KernelKey& key, runtime::GpuBackend& device) {
  std::string binary = compile(key, device);
  dump_binary(key, binary);
  DiskCache* const disk = disk_cache();
  // Where another compiler was loaded than it seemed before, this is not the key's binary.
  if (disk && device.binary_tag() == key.target) disk->store(key, binary);
  return {std::move(binary), KernelOrigin::Compiled};
}

std::optional<std::string> find_on_disk(DiskCache& disk, const KernelKey& key) {
  runtime::TraceSpan span(TraceCategory::Compile, key.name);
  std::optional<std::string> found = disk.find(key);
  span.add({"by", 0, found ? "the cache on disk" : "the cache on disk, without success"});
  return found;
}

}  // namespace

void set_compile_patience(milliseconds p) noexcept { patience = p; }

Binary find_or_compile(const KernelKey& key, runtime::GpuBackend& device) {
  dump_text(key);  // first, for the text that does not compile is the one to look at
  if (DiskCache* const disk = disk_cache())
    if (std::optional<std::string> found = find_on_disk(*disk, key)) {
      count_disk_hit();
      dump_binary(key, *found);
      return {std::move(*found), KernelOrigin::Disk};
    }
  return compile_and_keep(key, device);
}

Binary compile_again(const KernelKey& key, runtime::GpuBackend& device) {
  if (DiskCache* const disk = disk_cache()) disk->remove(key);
  return compile_and_keep(key, device);
}

}  // namespace sinter::inline v1::jit
