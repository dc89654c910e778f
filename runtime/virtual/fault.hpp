// Faults of kernels.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <sinter/runtime/backend.hpp>

namespace sinter::inline v1::runtime::vgpu {

struct Kernel;

/// Filled where the fault occurs, on the kernel's stack or in a signal handler: plain data only.
struct Fault {
  enum class Kind : std::uint8_t {
    None,
    Signal,           // signal, code, address, write, instruction
    Timeout,          // instruction
    Trap,             // text: empty
    Assertion,        // text: the condition
    Misaligned,       // address, text: the type
    Index,            // address: the index, text: the type
    Synchronisation,  // text: all of it
    NoStack,          // text: empty; the process lacks memory
    SharedSlack,      // text: all of it; no thread is known
    // Of the strict tier: address, text, instruction
    Outside,
    Uninitialised,
    Race,
  };
  Kind kind = Kind::None;
  bool write = false;
  bool stack = false;   // the address is past the end of a thread's stack
  bool shared = false;  // the address is beside shared memory
  int signal = 0;
  int code = 0;  // si_code
  int line = 0;  // 0: unknown
  unsigned block = 0;
  unsigned thread = 0;
  std::uintptr_t address = 0;
  std::uintptr_t instruction = 0;  // 0: unknown
  std::uintptr_t stack_pointer = 0;
  std::uintptr_t stack_words[32] = {};  // the stack's contents there
  char text[400] = {};

  explicit operator bool() const noexcept { return kind != Kind::None; }
};

/// The message of the CudaError that a launch throws: the driver's error name, kernel, block, thread, line and a
/// description, with the allocation and device of an address.
std::string describe(const Fault& fault, const Kernel& kernel, const Launch& launch, int device, double limit_s);

}  // namespace sinter::inline v1::runtime::vgpu
