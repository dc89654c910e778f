// Handles kernels' memory faults without ending the process.
#pragma once
#include <signal.h>

namespace sinter::inline v1::runtime::vgpu {

/// Handles SIGSEGV, SIGBUS, SIGFPE and SIGILL by ending the kernel that runs on the signaled thread; without one, calls
/// the previously installed handler. Once per process.
void install_signal_handlers();

/// Unblocks those signals in the calling thread during the object's lifetime.
class UnblockedSignals {
 public:
  UnblockedSignals() noexcept;
  ~UnblockedSignals();
  UnblockedSignals(const UnblockedSignals&) = delete;
  UnblockedSignals& operator=(const UnblockedSignals&) = delete;

 private:
  sigset_t before_;
};

/// Gives the calling thread a stack for signal handlers, so that a kernel's stack overflow can be handled, during the
/// object's lifetime. Uses an existing one if there is one.
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
