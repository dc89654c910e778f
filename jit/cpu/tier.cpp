#include "tier.hpp"

#include <fmt/format.h>
#include <sys/auxv.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include <runtime/environment.hpp>
#include <runtime/large_stack.hpp>
#include <runtime/log.hpp>
#include <sinter/runtime/error.hpp>
#include "../cache/kernel_cache.hpp"
#include "../stats/history.hpp"
#include "loop_compiler.hpp"

namespace sinter::inline v1 {
namespace jit::cpu {
namespace {

constexpr double hot_ns = 50e6;  // of work, after which a program is compiled

CpuJit cpu_jit_of_environment() noexcept try {
  if (::getauxval(AT_SECURE) != 0) return CpuJit::Off;
  const char* const wish = runtime::trusted_getenv("SINTER_CPU_JIT");
  if (wish == nullptr || *wish == '\0') return CpuJit::Hot;
  for (const CpuJit when : {CpuJit::Off, CpuJit::Hot, CpuJit::Always})
    if (runtime::same_word(to_string(when), wish)) return when;
  runtime::report_unreadable("SINTER_CPU_JIT", wish, "off, hot or always", "treating it as hot");
  return CpuJit::Hot;
} catch (...) {
  return CpuJit::Hot;
}

constexpr int unread = -1;
constinit std::atomic<int> when_compiled{unread};

/// The first line about an error, else the first one.
std::string_view essence(std::string_view log) noexcept {
  const std::size_t error = std::min(log.find("error"), log.size()), begin = log.substr(0, error).rfind('\n') + 1;
  const std::string_view rest = error < log.size() ? log.substr(begin) : log;
  return rest.substr(0, rest.find('\n'));
}

/// Once in a process: a compiler that is there and compiles nothing costs speed without a sign of it.
void report_rejected(const CompileError& error) noexcept try {
  static constinit std::atomic<bool> is_reported{false};
  if (is_reported.exchange(true)) return;
  runtime::notice(fmt::format(
      "the host's compiler rejects loops of the CPU, which stay interpreted and slower. SINTER_HOST_CXX names another "
      "compiler, SINTER_CPU_JIT=off asks none, SINTER_LOG=jit shows more (SINTER_QUIET=1 turns this message off). It "
      "says: "
      "{}",
      essence(error.log())));
} catch (...) {
}

void report_uncompiled(const std::string& name, const std::exception& error) noexcept try {
  if (runtime::logs(runtime::Log::Jit))
    runtime::log(runtime::Log::Jit, fmt::format("the CPU's loops of {} stay interpreted: {}", name, error.what()));
} catch (...) {
}

}  // namespace
}  // namespace jit::cpu

const char* to_string(CpuJit when) noexcept {
  switch (when) {
    case CpuJit::Off: return "off";
    case CpuJit::Hot: return "hot";
    case CpuJit::Always: break;
  }
  return "always";
}

CpuJit cpu_jit() noexcept {
  int known = jit::cpu::when_compiled.load(std::memory_order_relaxed);
  if (known == jit::cpu::unread) [[unlikely]]
    if (const int fresh = static_cast<int>(jit::cpu::cpu_jit_of_environment());
        jit::cpu::when_compiled.compare_exchange_strong(known, fresh))
      known = fresh;
  return static_cast<CpuJit>(known);
}

void set_cpu_jit(CpuJit when) noexcept {
  jit::cpu::when_compiled.store(static_cast<int>(when), std::memory_order_relaxed);
}

namespace jit::cpu {

/// Threads may lose each other's work: the sum is an estimate of estimates, and a program that is hot in several
/// threads is so soon.
void Tier::add(double nanoseconds) noexcept {
  const CpuJit when = cpu_jit();
  if (when == CpuJit::Off) return;
  const double sum = nanoseconds_.load(std::memory_order_relaxed) + nanoseconds;
  nanoseconds_.store(sum, std::memory_order_relaxed);
  if (when == CpuJit::Hot && sum < hot_ns) return;
  if (started_in_.exchange(runtime::generation(), std::memory_order_relaxed) == runtime::generation()) return;
  if (when == CpuJit::Always) return compile();
  try {
    runtime::queue_on_large_stack([self = shared_from_this()] { self->compile(); });
  } catch (const std::exception& error) {  // a later run tries again
    started_in_.store(never, std::memory_order_relaxed);
    nanoseconds_.store(0, std::memory_order_relaxed);
    report_uncompiled(source_->name, error);
  }
}

void Tier::prepare() noexcept {
  if (cpu_jit() == CpuJit::Off || ready() != nullptr) return;
  started_in_.store(runtime::generation(), std::memory_order_relaxed);
  compile();
}

void Tier::compile() noexcept try {
  const std::lock_guard lock(compiling_.get());  // held for long, so forking must stay possible
  if (ready() != nullptr || outcome_ == Outcome::Refused) return;
  try {
    make_ready();
  } catch (const CompileError& error) {
    outcome_ = Outcome::Refused;
    report_rejected(error);
    throw;
  }
} catch (const std::exception& error) {
  Outcome open = Outcome::Open;
  outcome_.compare_exchange_strong(open, Outcome::Failed);
  report_uncompiled(source_->name, error);
}

void Tier::make_ready() {
  auto made = std::make_unique<Compiled>();
  made->steps = make_steps(source_->graph, leaves_, Grouping::Compiled, source_->fused);
  const bool should_reduce = has_states(leaves_, source_->fused.reductions);
  if (made->steps.text.empty() || (should_reduce && !made->steps.reduces())) {
    outcome_ = Outcome::Refused;
    return;
  }
  for (const FunctionLoop& f : made->steps.functions) f.make_ready();
  const auto begin = std::chrono::steady_clock::now();
  runtime::KernelTarget& compiler = loop_compiler(isa());
  LoadedKernel loaded = load_kernel({source_->name, made->steps.text}, compiler);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const ChainLoop* loop = chain_loops(loaded.function.handle());
  for (Chain& chain : made->steps.chains) chain.loop = *loop++;
  made->loops = std::move(loaded.function);
  remember({source_->name, Device(), compiler.binary_tag(), loaded.origin, took.count()});
  compiled_.store(made.release(), std::memory_order_release);
}

}  // namespace jit::cpu
}  // namespace sinter::inline v1
