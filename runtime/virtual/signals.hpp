// Memory faults of kernels, without taking the process down.
#pragma once
#include <signal.h>

namespace sinter::inline v1::runtime::vgpu {

/// Handles SIGSEGV, SIGBUS, SIGFPE and SIGILL while a kernel runs on the thread that gets one, by ending the kernel;
/// any other goes to the handler that was installed before. Once per process.
void install_signal_handlers();

/// Lets those signals reach the calling thread, which may have blocked them, for as long as the object lives.
class UnblockedSignals {
 public:
  UnblockedSignals() noexcept;
  ~UnblockedSignals();
  UnblockedSignals(const UnblockedSignals&) = delete;
  UnblockedSignals& operator=(const UnblockedSignals&) = delete;

 private:
  sigset_t before_;
};

/// Gives the calling thread a stack for signal handlers, so that a kernel's stack overflow can be handled; for as long
/// as the object lives. A stack that is there already is used.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  void* memory_ = nullptr;
  stack_t before_{};
};

}  // namespace sinter::inline v1::runtime::vgpu
