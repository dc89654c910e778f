// Memory faults of kernels, without taking the process down.
#pragma once

namespace sinter::inline v1::runtime::vgpu {

/// Handles SIGSEGV, SIGBUS, SIGFPE and SIGILL while a kernel runs on the thread that gets one, by ending the kernel;
/// any other goes to the handler that was installed before. Once per process.
void install_signal_handlers();

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
};

}  // namespace sinter::inline v1::runtime::vgpu
