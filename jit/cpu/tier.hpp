// The second tier of a program: the same steps, in loops that the host's compiler made.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <runtime/fork.hpp>
#include <sinter/jit/cpu_jit.hpp>
#include <sinter/runtime/backend.hpp>
#include "steps.hpp"

namespace sinter::inline v1::jit::cpu {

/// What a program shares with the thread that compiles its loops.
struct TierSource {
  Graph graph;
  std::string name;  // of the kernel
  FusedWork fused;
};

/// The compiled form of steps for one set of patterns. Its results are the same bits as those of the interpreted
/// form, whose vectors' functions it is compiled from, so it takes over between two runs.
class Tier : public std::enable_shared_from_this<Tier> {
 public:
  Tier(std::shared_ptr<const TierSource> source, LeafPatterns leaves) : source_(std::move(source)), leaves_(leaves) {}
  ~Tier() { delete compiled_.load(std::memory_order_acquire); }

  /// Null while they are not ready.
  const Steps* ready() const noexcept {
    const Compiled* const compiled = compiled_.load(std::memory_order_acquire);
    return compiled != nullptr ? &compiled->steps : nullptr;
  }
  /// Whether compiling has ended without a compiled form. Only prepare() may still change that.
  bool has_given_up() const noexcept { return outcome_.load(std::memory_order_relaxed) != Outcome::Open; }
  /// Counts a run's work, estimated in nanoseconds of one thread. A program that has done enough is compiled in the
  /// background; with CpuJit::Always at once.
  void count(double nanoseconds) noexcept {
    if (!is_started() && ready() == nullptr) add(nanoseconds);
  }
  /// Compiles now if that is not off, and waits, also for another thread that compiles them. Without a compiler, and
  /// once it has failed, the steps stay interpreted.
  void prepare() noexcept;

 private:
  static constexpr unsigned never = ~0u;
  enum class Outcome : std::uint8_t {
    Open,
    Failed,   // for want of memory, files or processes: prepare() tries again
    Refused,  // the compiler rejected the loops, or they would be of no use: nothing tries again
  };

  /// In this process: the child of a fork has none of its parent's threads.
  bool is_started() const noexcept { return started_in_.load(std::memory_order_relaxed) == runtime::generation(); }
  void add(double nanoseconds) noexcept;
  void compile() noexcept;
  void make_ready();

  struct Compiled {
    Steps steps;
    runtime::KernelHandle loops;  // keeps them loaded
  };

  const std::shared_ptr<const TierSource> source_;
  const LeafPatterns leaves_;
  std::atomic<unsigned> started_in_{never};  // runtime::generation
  std::atomic<double> nanoseconds_{0};
  std::atomic<const Compiled*> compiled_{nullptr};  // owned; immutable once published
  runtime::ForkLocal<std::mutex> compiling_;
  std::atomic<Outcome> outcome_{Outcome::Open};
};

}  // namespace sinter::inline v1::jit::cpu
