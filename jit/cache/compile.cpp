#include "compile.hpp"

#include <fmt/format.h>

#include <atomic>
#include <optional>

#include <runtime/large_stack.hpp>
#include <runtime/log.hpp>
#include <runtime/progress_line.hpp>
#include <runtime/trace/span.hpp>
#include "../stats/stats.hpp"
#include "disk_cache.hpp"
#include "dump.hpp"

namespace sinter::inline v1::jit {
namespace {

using Clock = std::chrono::steady_clock;
using runtime::TraceCategory;
using std::chrono::milliseconds;

std::atomic<milliseconds> patience{milliseconds(1000)};
constexpr milliseconds tick(100);

void report_once(const KernelKey& key) {
  static std::atomic<bool> is_reported{false};
  if (is_reported.exchange(true)) return;
  const DiskCache* disk = disk_cache();
  runtime::notice(fmt::format("compiling kernel {} takes a while. {} (SINTER_QUIET=1 turns this message off)", key.name,
                              disk ? "It is stored in " + disk->folder() + " for other processes"
                                   : "It is kept only in this process: see SINTER_CACHE"));
}

/// Says what a user waits for who has waited for a second.
class CompileProgress {
 public:
  explicit CompileProgress(const KernelKey& key) : key_(key) {}
  CompileProgress(const CompileProgress&) = delete;
  CompileProgress& operator=(const CompileProgress&) = delete;
  ~CompileProgress() {
    if (is_drawn_) runtime::clear_progress();
  }

  Clock::duration elapsed() const { return Clock::now() - begin_; }
  void update() {
    if (elapsed() < patience.load()) return;
    report_once(key_);
    is_drawn_ = true;
    runtime::draw_progress(
        fmt::format("compiling {} ({:.1f} s)", key_.name, std::chrono::duration<double>(elapsed()).count()));
  }

 private:
  const KernelKey& key_;
  const Clock::time_point begin_ = Clock::now();
  bool is_drawn_ = false;
};

std::string compile(const KernelKey& key, runtime::KernelTarget& target) {
  const runtime::TraceSpan span(TraceCategory::Compile, key.name, {{"by", 0, "compiler"}});
  CompileProgress progress(key);
  std::string binary;
  runtime::run_on_large_stack([&] { binary = target.compile({key.name, key.text}); }, tick, [&] { progress.update(); });
  const Clock::duration took = progress.elapsed();
  if (!runtime::is_queued_work()) progress.update();
  count_compile(took);
  if (runtime::logs(runtime::Log::Jit))
    runtime::log(runtime::Log::Jit,
                 fmt::format("compiled {} in {:.1f} ms: {} bytes for {}", key.name,
                             std::chrono::duration<double, std::milli>(took).count(), binary.size(), key.target));
  return binary;
}

KernelBinary compile_and_keep(const KernelKey& key, runtime::KernelTarget& target) {
  std::string binary = compile(key, target);
  dump_binary(key, binary);
  DiskCache* const disk = disk_cache();
  // If a compiler other than the expected one was loaded, this is not the key's binary.
  if (disk && target.binary_tag() == key.target) disk->store(key, binary);
  return {std::move(binary), KernelOrigin::Compiled};
}

std::optional<std::string> find_on_disk(DiskCache& disk, const KernelKey& key) {
  runtime::TraceSpan span(TraceCategory::Compile, key.name);
  std::optional<std::string> found = disk.find(key);
  span.add({"by", 0, found ? "disk cache" : "disk cache, not found"});
  return found;
}

}  // namespace

void set_compile_patience(milliseconds p) noexcept { patience = p; }

KernelBinary find_or_compile(const KernelKey& key, runtime::KernelTarget& target) {
  dump_text(key, target.source_suffix());  // first, so that text that does not compile can be inspected
  if (DiskCache* const disk = disk_cache())
    if (std::optional<std::string> found = find_on_disk(*disk, key)) {
      count_disk_hit();
      dump_binary(key, *found);
      return {std::move(*found), KernelOrigin::Disk};
    }
  return compile_and_keep(key, target);
}

KernelBinary compile_again(const KernelKey& key, runtime::KernelTarget& target) {
  if (DiskCache* const disk = disk_cache()) disk->remove(key);
  return compile_and_keep(key, target);
}

}  // namespace sinter::inline v1::jit
