#include "fault.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <string_view>

#include "arena.hpp"
#include "kernel.hpp"
#include "worker.hpp"

namespace sinter::inline v1::runtime::vgpu {
namespace {

/// The CUDA driver's name for it.
std::string_view driver_name(const Fault& f) {
  switch (f.kind) {
    case Fault::Kind::Timeout: return "the launch timed out and was terminated (CUDA_ERROR_LAUNCH_TIMEOUT)";
    case Fault::Kind::NoStack: return "out of memory (CUDA_ERROR_OUT_OF_MEMORY)";
    case Fault::Kind::Trap:
    case Fault::Kind::Uninitialised:
    case Fault::Kind::Race:
    case Fault::Kind::Synchronisation: return "unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)";
    case Fault::Kind::Assertion: return "device-side assert triggered (CUDA_ERROR_ASSERT)";
    case Fault::Kind::Misaligned: return "misaligned address (CUDA_ERROR_MISALIGNED_ADDRESS)";
    case Fault::Kind::SharedSlack:
    case Fault::Kind::Outside:
    case Fault::Kind::Index: return "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)";
    default: break;
  }
  if (f.signal == SIGILL) return "an illegal instruction was encountered (CUDA_ERROR_ILLEGAL_INSTRUCTION)";
  if (f.signal == SIGFPE) return "unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)";
  return "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)";
}

std::string memory_fault(const Fault& f, const Launch& launch, const Kernel& kernel) {
  const std::uintptr_t address = Arena::address_of(f.address);
  const std::string access = fmt::format("{} of {:#x}", f.write ? "a write" : "a read", address);
  if (f.stack) return fmt::format("the thread's stack is full ({} bytes)", WorkerMemory::stack_bytes - page_bytes);
  if (f.shared)
    return fmt::format("{}, past shared memory ({} bytes of variables, {} bytes requested by the launch)", access,
                       kernel.static_shared, launch.shared);
  if (f.code == SI_KERNEL && f.address == 0) return "an address outside the address space, or misaligned for a vector";
  return fmt::format("{}: {}", access, Arena::whose(address));
}

std::string what_happened(const Fault& f, const Launch& launch, const Kernel& kernel, double limit_s) {
  switch (f.kind) {
    case Fault::Kind::Timeout:
      return fmt::format(
          "the block ran for more than {} s of processor time: it spins, or waits for another block. "
          "SINTER_VIRTUAL_TIMEOUT (in seconds, 0 for none) sets the limit",
          limit_s);
    case Fault::Kind::NoStack:
      return "no memory for the threads' stacks: with many allocations alive, the process runs out of memory mappings. "
             "Raise vm.max_map_count";
    case Fault::Kind::Trap: return "__trap()";
    case Fault::Kind::Assertion: return fmt::format("assert({}) failed", f.text);
    case Fault::Kind::Misaligned: {
      const std::uintptr_t address = Arena::address_of(f.address);
      return fmt::format("{:#x} is misaligned{}{}: {}", address, *f.text ? " for " : "", f.text, Arena::whose(address));
    }
    case Fault::Kind::Index:
      return fmt::format("index {} is outside an array of type {}", static_cast<std::int64_t>(f.address), f.text);
    case Fault::Kind::Outside:
    case Fault::Kind::Uninitialised:
    case Fault::Kind::Race:
      if (!f.shared) return fmt::format("{}: {}", f.text, Arena::whose(Arena::address_of(f.address)));
      return f.text;
    case Fault::Kind::SharedSlack:
    case Fault::Kind::Synchronisation: return f.text;
    default: break;
  }
  if (f.signal == SIGFPE) return "an integer division by zero, or of the lowest integer by -1";
  if (f.signal == SIGILL) return "an instruction that this CPU does not support, or unreachable code";
  return memory_fault(f, launch, kernel);
}

/// The line of the instruction, else of the first caller in the kernel's source.
int find_line(const Fault& f, const Kernel& kernel) {
  int line = f.line ? f.line : f.instruction ? line_of(kernel, f.instruction) : 0;
  for (std::uintptr_t word : f.stack_words)
    if (!line && f.instruction) line = line_of(kernel, word - 1);  // the call itself, not the instruction after it
  return line;
}

/// Line `number` (from 1) without its indentation.
std::string_view line_text(std::string_view source, int number) {
  for (; number > 1; --number) {
    const std::size_t end = source.find('\n');
    if (end == std::string_view::npos) return {};
    source.remove_prefix(end + 1);
  }
  source = source.substr(0, source.find('\n'));
  source.remove_prefix(std::min(source.find_first_not_of(" \t"), source.size()));
  return source;
}

}  // namespace

std::string describe(const Fault& f, const Kernel& kernel, const Launch& launch, int device, double limit_s) {
  const int line = find_line(f, kernel);
  std::string message = fmt::format("CUDA error: {}: kernel {} on cuda:{} (virtual), block {} of {}", driver_name(f),
                                    kernel.name, device, f.block, launch.grid);
  if (f.kind != Fault::Kind::SharedSlack) message += fmt::format(", thread {} of {}", f.thread, launch.block);
  if (line) message += fmt::format(", line {}: {}", line, line_text(kernel.info.source, line));
  return message + "\n  " + what_happened(f, launch, kernel, limit_s);
}

}  // namespace sinter::inline v1::runtime::vgpu
