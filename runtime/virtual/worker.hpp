// One host thread that runs blocks of kernels.
//
// Everything here and in worker.cpp and warp.cpp runs on, or switches to, stacks that the sanitizers do not know; these
// files are compiled without sanitizers.
#pragma once
#include <array>
#include <atomic>
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "abi.h"
#include "fault.hpp"
#include "kernel.hpp"
#include "signals.hpp"
#include "watchdog.hpp"

namespace sinter::inline v1::runtime::vgpu {

inline constexpr unsigned max_threads = 1024;  // per block
inline constexpr unsigned warp_lanes = 32;
inline constexpr std::size_t max_shared = 227 << 10;  // bytes per block, static and dynamic

class MemoryCheck;
struct Actor;

/// State shared by all blocks of a launch.
struct Grid {
  const Kernel* kernel;
  const void* parameters;
  unsigned blocks;
  unsigned threads;
  std::size_t dynamic_shared;
  double limit_s;                 // per block; 0: none
  MemoryCheck* check = nullptr;   // for the strict tier, in which one worker runs all blocks
  std::atomic<bool> stop{false};  // set by the first fault: no block starts after it
};

/// A worker's memory: a stack for each thread of a block and two areas of shared memory, each ending at a guard page.
class WorkerMemory {
 public:
  static constexpr std::size_t stack_bytes = 64 << 10;  // the lowest page is the guard page
  static constexpr std::size_t shared_bytes = 256 << 10;

  /// Throws OutOfMemory.
  WorkerMemory();
  ~WorkerMemory();
  WorkerMemory(const WorkerMemory&) = delete;
  WorkerMemory& operator=(const WorkerMemory&) = delete;

  /// Makes stacks 0 to n - 1 usable; each takes two of the process's memory mappings. False if no more are available.
  bool open_stacks(unsigned n) noexcept;
  /// The start of stack `i`, which grows down; and the stack that contains an address.
  char* stack_top(unsigned i) const noexcept;
  unsigned stack_of(const void* address) const noexcept;
  /// Bytes from a stack pointer up to the start of its stack; 0 if it is in no stack.
  std::size_t bytes_above(std::uintptr_t stack_pointer) const noexcept;
  /// Whether a stack pointer is a kernel's.
  bool contains(std::uintptr_t address) const noexcept;
  char* escape_stack_top() const noexcept { return base_ + escape_bytes; }
  /// The end of the static (0) or the dynamic (1) shared memory; the page that begins there faults.
  char* shared_end(int which) const noexcept;
  bool is_stack_guard(std::uintptr_t address) const noexcept;
  bool is_shared(std::uintptr_t address) const noexcept;

 private:
  static constexpr std::size_t escape_bytes = 64 << 10;
  static constexpr std::size_t shared_at = escape_bytes;
  static constexpr std::size_t stacks_at = shared_at + 2 * shared_bytes;
  static constexpr std::size_t all_bytes = stacks_at + (max_threads + 1) * stack_bytes;
  char* base_;
  unsigned open_ = 0;
};

/// Threads of kernels without barriers run one after another in a loop. Others get a stack each when they first block:
/// a thread that returns without blocking passes its stack on to the next one, without a switch.
class Worker {
 public:
  /// The calling thread's worker, created on first use. Throws OutOfMemory.
  static Worker& get();
  /// The calling thread's worker, or null if there is none. Async-signal-safe.
  static Worker* of_this_thread() noexcept;

  /// Runs blocks [first, last) until one faults, which fills `fault`, or grid.stop is set. Throws OutOfMemory.
  void run(const Grid& grid, std::uint64_t first, std::uint64_t last, Fault& fault);

  // For the signal handler.
  /// Whether the thread is inside a kernel. Also checks the stack pointer, since run() may just have returned.
  bool in_kernel(std::uintptr_t stack_pointer) const noexcept { return running_ && memory_.contains(stack_pointer); }
  /// Whether the watchdog's signal is for the current block.
  bool is_timed_out() const noexcept;
  void record(const Fault& fault) noexcept;
  void* escape_stack() const noexcept { return memory_.escape_stack_top(); }
  /// Leaves the kernel for run(). Does not return.
  static void escape();

  // For loading kernels.
  static long state_offset() noexcept;
  static unsigned long offset_of_dynamic_shared(void* (*address)()) noexcept;

 private:
  using Context = boost::context::detail::fcontext_t;
  using Transfer = boost::context::detail::transfer_t;
  using BarrierKind = sinter_virtual::BarrierKind;
  using WarpOp = sinter_virtual::WarpOp;
  enum class Status : std::uint8_t { Fresh, Ready, AtBarrier, AtWarp, Done };
  struct WarpCall {
    WarpOp op;
    unsigned mask;
    std::uint64_t value;  // the lane's argument, then its result
    int argument, width, line;
  };
  struct Warp {
    std::uint32_t present;   // lanes that exist and have not returned
    std::uint32_t waiting;   // lanes at a warp operation
    std::uint16_t interval;  // number of __syncwarp()s of all its lanes that it has passed
  };

  // worker.cpp: blocks and scheduling
  void prepare(const Grid& grid, std::uint64_t first, std::uint64_t last);
  void begin_block();
  bool check_shared_slack() noexcept;
  void run_loops();
  void run_fibres();
  void reset_threads();
  void explain_deadlock();
  Context next_context();
  void become(unsigned thread);
  void suspend();
  [[noreturn]] void leave();
  void finish_thread();
  void wake(unsigned thread);
  static void loops_main(Transfer from);
  static void fibre_main(Transfer from);
  static void arrive(Transfer from);

  // barriers
  static int barrier(BarrierKind kind, int predicate, int line);
  int wait_at_barrier(BarrierKind kind, bool predicate, int line);
  void check_barrier_complete();

  // warp.cpp
  static unsigned long long warp(WarpOp op, unsigned mask, unsigned long long value, int argument, int width, int line);
  std::uint64_t wait_at_warp(const WarpCall& call);
  bool complete_warp(unsigned thread);
  void compute_warp(unsigned first_thread, unsigned lanes);
  unsigned source_lane(const WarpCall& call, unsigned lane) const noexcept;
  void recheck_warp(unsigned warp);
  static unsigned active_mask();

  // strict tier
  static void access(sinter_virtual::Access kind, unsigned long address, unsigned long bytes,
                     unsigned long instruction);
  static void fence();
  Actor actor() const noexcept;

  static void fail(sinter_virtual::Failure failure, int line, unsigned long value, const char* what);
  [[noreturn]] void fail_synchronisation(unsigned thread, int line, const char* format, ...)
      __attribute__((format(printf, 4, 5)));
  Fault& new_fault(Fault::Kind kind, unsigned thread, int line) noexcept;

  Worker();
  friend struct WorkerOwner;

  WorkerMemory memory_;
  SignalStack signal_stack_;
  Watched watched_;
  Fault fault_;
  volatile bool running_ = false;
  volatile bool in_check_ = false;
  Context root_ = nullptr;     // of run()
  Context nowhere_ = nullptr;  // for contexts that are never resumed
  const Grid* grid_ = nullptr;
  std::uint64_t next_block_ = 0, last_block_ = 0;

  // The current block
  unsigned count_ = 0;  // threads
  unsigned me_ = 0;
  unsigned fresh_ = 0;  // the next thread that has not started
  unsigned done_ = 0;
  unsigned stacks_used_ = 0, free_stacks_ = 0;
  unsigned ready_head_ = 0, ready_tail_ = 0;  // modulo max_threads
  unsigned at_barrier_ = 0, first_at_barrier_ = 0, other_at_barrier_ = 0;
  BarrierKind barrier_kind_ = BarrierKind::Sync;
  unsigned barrier_votes_ = 0;
  int barrier_result_ = 0;
  std::uint16_t interval_ = 0;  // number of barriers that it has passed
  std::array<Status, max_threads> status_;
  std::array<int, max_threads> line_;
  std::array<Context, max_threads> context_;
  std::array<std::uint16_t, max_threads> ready_;
  std::array<std::uint16_t, max_threads> free_stack_;
  std::array<WarpCall, max_threads> call_;
  std::array<Warp, max_threads / warp_lanes> warp_;
};

}  // namespace sinter::inline v1::runtime::vgpu
