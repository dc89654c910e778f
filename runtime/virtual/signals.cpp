#include "signals.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>

#include "../fork.hpp"
#include "watchdog.hpp"
#include "worker.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

constexpr int handled[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr std::size_t stack_bytes = 64 << 10;
struct sigaction previous[std::size(handled)];

#if defined(__x86_64__)
std::uintptr_t instruction(const ucontext_t& c) { return static_cast<std::uintptr_t>(c.uc_mcontext.gregs[REG_RIP]); }
std::uintptr_t stack_pointer(const ucontext_t& c) { return static_cast<std::uintptr_t>(c.uc_mcontext.gregs[REG_RSP]); }
bool is_write(const ucontext_t& c) { return c.uc_mcontext.gregs[REG_ERR] & 2; }
void resume_at(ucontext_t& c, void (*function)(), void* stack) {
  constexpr greg_t direction_flag = 0x400;
  c.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(function);
  c.uc_mcontext.gregs[REG_RSP] = reinterpret_cast<greg_t>(stack) - 8;  // as after a call
  c.uc_mcontext.gregs[REG_EFL] &= ~direction_flag;
}
#elif defined(__aarch64__)
std::uintptr_t instruction(const ucontext_t& c) { return c.uc_mcontext.pc; }
std::uintptr_t stack_pointer(const ucontext_t& c) { return c.uc_mcontext.sp; }
/// Of the exception's syndrome, a record among others: whether it is a write, for a fault of data.
bool is_write(const ucontext_t& c) {
  const auto* record = reinterpret_cast<const _aarch64_ctx*>(c.uc_mcontext.__reserved);
  for (; record->magic != 0;
       record = reinterpret_cast<const _aarch64_ctx*>(reinterpret_cast<const std::byte*>(record) + record->size))
    if (record->magic == ESR_MAGIC) return reinterpret_cast<const esr_context*>(record)->esr >> 6 & 1;
  return false;
}
void resume_at(ucontext_t& c, void (*function)(), void* stack) {
  c.uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(function);
  c.uc_mcontext.sp = reinterpret_cast<std::uintptr_t>(stack);
}
#else
#error "Virtual GPUs support only x86-64 and AArch64"
#endif

void pass_on(int signal, siginfo_t* info, void* context) {
  for (std::size_t i = 0; i < std::size(handled); ++i) {
    if (handled[i] != signal) continue;
    const struct sigaction& before = previous[i];
    if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
    if (before.sa_handler == SIG_IGN && info->si_code <= 0) return;
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
    // The default action, as if there were no handler: a fault recurs on return; a sent signal is sent again.
    ::signal(signal, SIG_DFL);
    if (info->si_code <= 0) ::raise(signal);
    return;
  }
}

void on_signal(int signal, siginfo_t* info, void* context) {
  Worker* worker = Worker::of_this_thread();
  auto& frame = *static_cast<ucontext_t*>(context);
  const bool from_watchdog = is_from_watchdog(*info);
  const bool in_kernel = worker && worker->in_kernel(stack_pointer(frame));
  if (from_watchdog && !(in_kernel && worker->is_timed_out())) return;  // too late: the block has ended
  const bool sent_by_others = info->si_code <= 0 && !from_watchdog;
  if (!in_kernel || sent_by_others) return pass_on(signal, info, context);
  Fault fault;
  fault.kind = from_watchdog ? Fault::Kind::Timeout : Fault::Kind::Signal;
  fault.signal = signal;
  fault.code = info->si_code;
  fault.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  fault.instruction = instruction(frame);
  fault.stack_pointer = stack_pointer(frame);
  fault.write = is_write(frame);
  worker->record(fault);
  resume_at(frame, &Worker::escape, worker->escape_stack());
}

}  // namespace

void install_signal_handlers() {
  static constinit NoDestructor<const bool> installed;
  installed.get([] {
    struct sigaction action{};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < std::size(handled); ++i) ::sigaction(handled[i], &action, &previous[i]);
    return new bool(true);
  });
}

UnblockedSignals::UnblockedSignals() noexcept {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : handled) sigaddset(&ours, signal);
  pthread_sigmask(SIG_UNBLOCK, &ours, &before_);
}

UnblockedSignals::~UnblockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

SignalStack::SignalStack() {
  if (::sigaltstack(nullptr, &before_) == 0 && !(before_.ss_flags & SS_DISABLE) && before_.ss_size >= stack_bytes / 2)
    return;
  memory_ = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory_ == MAP_FAILED) {
    memory_ = nullptr;
    return;
  }
  stack_t ours{};
  ours.ss_sp = memory_;
  ours.ss_size = stack_bytes;
  ::sigaltstack(&ours, nullptr);
}

SignalStack::~SignalStack() {
  if (!memory_) return;
  stack_t now{};
  if (::sigaltstack(nullptr, &now) == 0 && now.ss_sp == memory_) ::sigaltstack(&before_, nullptr);
  ::munmap(memory_, stack_bytes);
}

}  // namespace sinter::inline v1::runtime::vgpu
