#include "launcher.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <sinter/runtime/error.hpp>
#include <vector>
#include "../fork.hpp"

#include "../tbb_guard.hpp"
#include "fault.hpp"
#include "happens_before.hpp"
#include "memory_check.hpp"
#include "watchdog.hpp"
#include "worker.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

constexpr std::size_t max_parameter_bytes = 32764;
constexpr unsigned max_grid = 2147483647;
// A launch shorter than this stays on its thread; longer ones are split into parts of about this duration.
constexpr std::chrono::nanoseconds worth_sharing = std::chrono::microseconds(100);

[[noreturn]] void refuse(const Kernel& kernel, int device, const std::string& why) {
  throw CudaError(fmt::format(
      "CUDA error: invalid argument (CUDA_ERROR_INVALID_VALUE): launch of kernel {} on cuda:{} (virtual): {}.",
      kernel.name, device, why));
}

void check_geometry(const Launch& l, const Kernel& k, int device) {
  if (l.grid < 1 || l.grid > max_grid)
    refuse(k, device, fmt::format("a grid of {} blocks; 1 to {} are allowed", l.grid, max_grid));
  if (l.block < 1 || l.block > max_threads)
    refuse(k, device, fmt::format("blocks of {} threads; 1 to {} are allowed", l.block, max_threads));
  if (l.block > k.info.max_block)
    refuse(k, device,
           fmt::format("blocks of {} threads; __launch_bounds__ promises at most {}", l.block, k.info.max_block));
  if (l.words.size_bytes() > max_parameter_bytes)
    refuse(k, device,
           fmt::format("{} bytes of parameters; at most {} are allowed", l.words.size_bytes(), max_parameter_bytes));
  if (l.words.size_bytes() != k.info.parameter_bytes)
    refuse(k, device,
           fmt::format("{} bytes of parameters; the kernel's struct has {}", l.words.size_bytes(),
                       k.info.parameter_bytes));
  if (l.pointers > l.words.size())
    refuse(k, device, fmt::format("{} pointers among {} parameters", l.pointers, l.words.size()));
  if (k.static_shared + l.shared > max_shared)
    refuse(k, device,
           fmt::format("{} + {} bytes of shared memory, static and dynamic; at most {} are allowed", k.static_shared,
                       l.shared, max_shared));
}

const void* pointer(const Launch& l, unsigned i) { return reinterpret_cast<const void*>(l.words[i]); }

void check_pointers(const Launch& l, const Kernel& k, const Arena& arena) {
  for (unsigned i = 0; i < l.pointers; ++i)
    if (pointer(l, i) && !arena.find(pointer(l, i)))
      refuse(
          k, arena.device(),
          fmt::format("pointer {} of {} is {}, which is not memory of cuda:{}. It belongs to {}. A kernel needs memory "
                      "of its own device: move the tensor with .to(...)",
                      i, l.pointers, pointer(l, i), arena.device(), Arena::whose(l.words[i])));
}

/// The parameters for the kernel, with the operands' device addresses replaced by pointers to the memory.
std::vector<std::uint64_t> kernel_words(const Launch& l) {
  std::vector<std::uint64_t> words(l.words.begin(), l.words.end());
  for (unsigned i = 0; i < l.pointers; ++i)
    if (words[i]) words[i] = memory_of(words[i]);
  return words;
}

/// Writes around the operands that the guard pages are too coarse to catch; empty if there are none.
std::string check_edges(const Launch& l, Arena& arena) {
  for (unsigned i = 0; i < l.pointers; ++i)
    if (const auto allocation = pointer(l, i) ? arena.find(pointer(l, i)) : std::nullopt)
      if (std::string damage = arena.check_edges(*allocation); !damage.empty()) return damage;
  return {};
}

/// The first fault of a launch, from any thread.
class FirstFault {
 public:
  void run(Grid& grid, std::uint64_t first, std::uint64_t last) {
    Fault fault;
    Worker::get().run(grid, first, last, fault);
    if (!fault) return;
    grid.stop.store(true, std::memory_order_relaxed);
    std::lock_guard lock(mutex_);
    if (!fault_) fault_ = fault;
  }
  const Fault& get() const noexcept { return fault_; }

 private:
  std::mutex mutex_;
  Fault fault_;
};

/// For kernels whose threads need their own stacks: with all processors of a large host, mappings would run out.
tbb::task_arena& few_workers() {
  static constexpr int most = 16;
  static constinit NoDestructor<tbb::task_arena> arena;
  return arena.get([] { return new tbb::task_arena(std::min(most, tbb::this_task_arena::max_concurrency())); });
}

/// Runs growing numbers of blocks on this thread until the rest is known to be worth several threads.
void run_blocks(Grid& grid, FirstFault& fault) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::uint64_t next = 0;
  for (std::uint64_t n = 1; next < grid.blocks && !grid.stop; n *= 2) {
    const std::uint64_t last = std::min<std::uint64_t>(grid.blocks, next + n);
    fault.run(grid, next, last);
    next = last;
    const auto spent = Clock::now() - start;
    if (spent < worth_sharing || next == grid.blocks || !claim_tbb()) continue;
    const std::uint64_t piece =
        std::max<std::uint64_t>(1, next * static_cast<std::uint64_t>(worth_sharing.count()) /
                                       static_cast<std::uint64_t>(std::chrono::nanoseconds(spent).count()));
    const auto share = [&] {
      tbb::parallel_for(tbb::blocked_range<std::uint64_t>(next, grid.blocks, piece),
                        [&](const auto& range) { fault.run(grid, range.begin(), range.end()); });
    };
    return grid.kernel->has_barriers ? few_workers().execute(share) : share();
  }
}

/// One launch at a time, blocks in order: the strict tier's findings are reproducible.
void run_strictly(Grid& grid, const Launch& launch, const StreamImpl& stream, Arena& arena, FirstFault& fault) {
  StreamOrder order(stream, "kernel " + grid.kernel->name);
  MemoryCheck check(launch, arena, order);
  grid.check = &check;
  fault.run(grid, 0, grid.blocks);
}

}  // namespace

void run_launch(const Launch& launch, const StreamImpl& stream, Arena& arena, double limit_s) {
  const Kernel& kernel = *static_cast<const Kernel*>(launch.kernel);
  check_geometry(launch, kernel, arena.device());
  check_pointers(launch, kernel, arena);
  if (limit_s > 0) keep_watch();
  const std::vector<std::uint64_t> words = kernel_words(launch);
  Grid grid{&kernel, words.data(), launch.grid, launch.block, launch.shared, limit_s};
  FirstFault fault;
  if (is_strict())
    run_strictly(grid, launch, stream, arena, fault);
  else
    run_blocks(grid, fault);
  const std::string damage = check_edges(launch, arena);
  if (fault.get().kind == Fault::Kind::NoStack)
    throw OutOfMemory(describe(fault.get(), kernel, launch, arena.device(), limit_s));
  if (fault.get())
    throw CudaError(describe(fault.get(), kernel, launch, arena.device(), limit_s) +
                    (damage.empty() ? "" : "\n  and " + damage));
  if (!damage.empty())
    throw CudaError(fmt::format(
        "CUDA error: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS): kernel {} on cuda:{} "
        "(virtual)\n  {}, found after the launch",
        kernel.name, arena.device(), damage));
}

}  // namespace sinter::inline v1::runtime::vgpu
