#include "worker.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

#include <sinter/runtime/float_environment.hpp>
#include "arena.hpp"
#include "memory_check.hpp"

namespace sinter::inline v1::runtime::vgpu {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;

namespace {

constexpr std::size_t usable_stack = WorkerMemory::stack_bytes / 2;  // a lower bound; the guard page is the limit

// initial-exec: at the same offset from the thread pointer in every thread, through which kernels access it.
thread_local sinter_virtual::State state __attribute__((tls_model("initial-exec")));
thread_local Worker* worker __attribute__((tls_model("initial-exec"))) = nullptr;

}  // namespace

/// Destroys a worker with its thread. One requested even later, by a destructor, is never freed.
struct WorkerOwner {
  WorkerOwner() : owned(new Worker) {}
  ~WorkerOwner() {
    over = true;
    worker = nullptr;
  }
  const std::unique_ptr<Worker> owned;
  static thread_local bool over;
};
thread_local bool WorkerOwner::over = false;

Worker::Worker() {
  static constexpr sinter_virtual::Operations operations{barrier, warp, active_mask, fail, access, fence};
  state.operations = &operations;
}

Worker& Worker::get() {
  if (!worker && WorkerOwner::over) worker = new Worker;
  if (!worker) {
    thread_local WorkerOwner owner;
    worker = owner.owned.get();
  }
  return *worker;
}

Worker* Worker::of_this_thread() noexcept { return worker; }

long Worker::state_offset() noexcept { return reinterpret_cast<char*>(&state) - sinter_virtual::thread_pointer(); }

unsigned long Worker::offset_of_dynamic_shared(void* (*address)()) noexcept {
  char* const before = state.static_shared;
  state.static_shared = nullptr;
  const auto offset = reinterpret_cast<unsigned long>(address());
  state.static_shared = before;
  return offset;
}

void Worker::run(const Grid& grid, std::uint64_t first, std::uint64_t last, Fault& fault) {
  const UnblockedSignals unblocked;
  const DefaultFloatEnvironment floats;
  prepare(grid, first, last);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  running_ = true;
  watched_.running.store(true, std::memory_order_release);
  if (grid.kernel->has_barriers)
    run_fibres();
  else
    run_loops();
  watched_.running.store(false, std::memory_order_release);
  running_ = false;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (fault_) fault = fault_;
}

void Worker::prepare(const Grid& grid, std::uint64_t first, std::uint64_t last) {
  grid_ = &grid;
  count_ = grid.threads;
  next_block_ = first;
  last_block_ = last;
  fault_.kind = Fault::Kind::None;
  state.block_dim = {grid.threads, 1, 1};
  state.grid_dim = {grid.blocks, 1, 1};
  state.block = state.thread = {0, 0, 0};
  state.static_shared = memory_.shared_end(0) - (grid.kernel->static_area + 255) / 256 * 256;  // as __align__ requires
  state.dynamic_shared = memory_.shared_end(1) - (grid.dynamic_shared + 15) / 16 * 16;
  watched_.limit_ns.store(static_cast<std::int64_t>(grid.limit_s * 1e9), std::memory_order_relaxed);
  watched_.blocks.fetch_add(1, std::memory_order_relaxed);  // time of earlier runs does not count
}

void Worker::begin_block() {
  state.block.x = static_cast<unsigned>(next_block_++);
  watched_.blocks.fetch_add(1, std::memory_order_relaxed);
  for (int which : {0, 1}) {
    char* const begin = which ? state.dynamic_shared : state.static_shared;
    for (char* p = begin; p < memory_.shared_end(which); p += sizeof poison) std::memcpy(p, &poison, sizeof poison);
  }
  interval_ = 0;
  if (grid_->check)
    grid_->check->begin_block({state.static_shared, grid_->kernel->static_area, memory_.shared_end(0)},
                              {state.dynamic_shared, grid_->dynamic_shared, memory_.shared_end(1)});
}

/// Shared memory is rounded up to its alignment, so a write to the excess misses the guard page. False if one is found.
bool Worker::check_shared_slack() noexcept {
  const auto* expected = reinterpret_cast<const char*>(&poison);
  for (int which : {0, 1}) {
    const std::size_t bytes = which ? grid_->dynamic_shared : grid_->kernel->static_area;
    char* const begin = which ? state.dynamic_shared : state.static_shared;
    for (const char* p = begin + bytes; p < memory_.shared_end(which); ++p)
      if (*p != expected[(p - begin) % sizeof poison]) {
        Fault& f = new_fault(Fault::Kind::SharedSlack, 0, 0);
        std::snprintf(f.text, sizeof f.text, "a write %td bytes past the %zu bytes of %s, found after the block",
                      p - (begin + bytes), bytes, which ? "dynamic shared memory" : "__shared__ variables");
        return false;
      }
  }
  return true;
}

// ---- Kernels whose threads never wait

void Worker::run_loops() {
  char* const top = memory_.stack_top(0);
  jump_fcontext(make_fcontext(top, usable_stack, loops_main), &root_);
}

void Worker::loops_main(Transfer from) {
  arrive(from);
  Worker& w = *worker;
  while (w.next_block_ < w.last_block_ && !w.grid_->stop.load(std::memory_order_relaxed)) {
    w.begin_block();
    w.grid_->kernel->info.run(w.grid_->parameters, 0, w.count_);
    if (!w.check_shared_slack()) break;
  }
  w.leave();
}

// ---- Kernels whose threads wait for each other

void Worker::run_fibres() {
  while (next_block_ < last_block_ && !fault_ && !grid_->stop.load(std::memory_order_relaxed)) {
    begin_block();
    reset_threads();
    jump_fcontext(next_context(), &root_);
    if (!fault_ && done_ < count_) explain_deadlock();
    if (!fault_) check_shared_slack();
  }
}

void Worker::reset_threads() {
  fresh_ = done_ = stacks_used_ = free_stacks_ = ready_head_ = ready_tail_ = at_barrier_ = 0;
  std::memset(status_.data(), static_cast<int>(Status::Fresh), count_);
  for (unsigned w = 0; w * warp_lanes < count_; ++w) {
    const unsigned lanes = count_ - w * warp_lanes;
    warp_[w] = {lanes >= warp_lanes ? ~0u : (1u << lanes) - 1, 0, 0};
  }
}

/// Chooses what runs next and the top of its stack: threads that have not started, then those that can continue, then
/// run().
Worker::Context Worker::next_context() {
  if (fresh_ < count_) {
    if (!free_stacks_ && !memory_.open_stacks(stacks_used_ + 1)) {
      new_fault(Fault::Kind::NoStack, fresh_, 0);
      return root_;
    }
    const unsigned stack = free_stacks_ ? free_stack_[--free_stacks_] : stacks_used_++;
    become(fresh_++);
    return make_fcontext(memory_.stack_top(stack), usable_stack, fibre_main);
  }
  if (ready_head_ != ready_tail_) {
    become(ready_[ready_head_++ % max_threads]);
    return context_[me_];
  }
  return root_;
}

void Worker::become(unsigned thread) {
  me_ = thread;
  state.thread.x = thread;
}

/// Stores the context in which the thread that switched here can be resumed.
void Worker::arrive(Transfer from) { *static_cast<Context*>(from.data) = from.fctx; }

void Worker::fibre_main(Transfer from) {
  arrive(from);
  Worker& w = *worker;
  const auto stack = static_cast<std::uint16_t>(w.memory_.stack_of(__builtin_frame_address(0)));
  for (;;) {
    w.grid_->kernel->info.run(w.grid_->parameters, w.me_, w.me_ + 1);
    w.finish_thread();
    if (w.fresh_ == w.count_) break;
    w.become(w.fresh_++);
  }
  w.free_stack_[w.free_stacks_++] = stack;
  jump_fcontext(w.next_context(), &w.nowhere_);
}

/// Runs other threads until this one is woken.
void Worker::suspend() {
  const unsigned self = me_;
  const Context next = next_context();
  if (me_ == self && status_[self] == Status::Ready) return;
  arrive(jump_fcontext(next, &context_[self]));
}

void Worker::wake(unsigned thread) {
  status_[thread] = Status::Ready;
  ready_[ready_tail_++ % max_threads] = static_cast<std::uint16_t>(thread);
}

void Worker::leave() {
  jump_fcontext(root_, &nowhere_);
  __builtin_unreachable();
}

void Worker::escape() { worker->leave(); }

void Worker::finish_thread() {
  status_[me_] = Status::Done;
  ++done_;
  const unsigned w = me_ / warp_lanes;
  warp_[w].present &= ~(1u << me_ % warp_lanes);
  if (warp_[w].waiting) recheck_warp(w);
  check_barrier_complete();
}

unsigned Worker::active_mask() {
  const unsigned thread = state.thread.x;
  return worker->grid_->kernel->has_barriers ? worker->warp_[thread / warp_lanes].present : 1u << thread % warp_lanes;
}

// ---- Barriers

int Worker::barrier(BarrierKind kind, int predicate, int line) {
  return worker->wait_at_barrier(kind, predicate != 0, line);
}

int Worker::wait_at_barrier(BarrierKind kind, bool predicate, int line) {
  if (at_barrier_ == 0) {
    first_at_barrier_ = other_at_barrier_ = me_;
    barrier_kind_ = kind;
    barrier_votes_ = 0;
  }
  status_[me_] = Status::AtBarrier;
  line_[me_] = line;
  if (line != line_[first_at_barrier_] || kind != barrier_kind_) other_at_barrier_ = me_;
  barrier_votes_ += predicate;
  ++at_barrier_;
  if (at_barrier_ + done_ < count_)
    suspend();
  else
    check_barrier_complete();
  return barrier_result_;
}

/// Called when a thread arrives or returns. The last one to arrive continues; the others become ready.
void Worker::check_barrier_complete() {
  if (at_barrier_ == 0 || at_barrier_ + done_ < count_) return;
  const unsigned first = first_at_barrier_, other = other_at_barrier_;
  if (done_ > 0) {
    unsigned left = 0;
    while (status_[left] != Status::Done) ++left;
    fail_synchronisation(
        first, line_[first],
        "%u of %u threads (the first is thread %u) returned before the barrier at line %d, where %u wait", done_,
        count_, left, line_[first], at_barrier_);
  }
  if (other != first)
    fail_synchronisation(other, line_[other], "different barriers: thread %u waits at line %d, thread %u at line %d",
                         first, line_[first], other, line_[other]);
  barrier_result_ = barrier_kind_ == BarrierKind::Count ? static_cast<int>(barrier_votes_)
                    : barrier_kind_ == BarrierKind::And ? barrier_votes_ == count_
                                                        : barrier_votes_ != 0;
  at_barrier_ = 0;
  ++interval_;
  for (unsigned t = 0; t < count_; ++t)
    if (t != me_) wake(t);
  status_[me_] = Status::Ready;
}

// ---- Faults

/// False during a check, which may hold the heap's lock: the watchdog asks again.
bool Worker::is_timed_out() const noexcept { return !in_check_ && watched_.expired.load() == watched_.blocks.load(); }

Fault& Worker::new_fault(Fault::Kind kind, unsigned thread, int line) noexcept {
  fault_ = Fault{};
  fault_.kind = kind;
  fault_.block = state.block.x;
  fault_.thread = thread;
  fault_.line = line;
  return fault_;
}

void Worker::record(const Fault& fault) noexcept {
  running_ = false;  // later faults are not the kernel's
  Fault& f = new_fault(fault.kind, state.thread.x, 0);
  f.stack = memory_.is_stack_guard(fault.address);
  f.shared = memory_.is_shared(fault.address);
  f.signal = fault.signal;
  f.code = fault.code;
  f.address = fault.address;
  f.instruction = fault.instruction;
  f.write = fault.write;
  // The stack words include return addresses: they give the line of a fault in a function of the C library.
  const std::size_t above = memory_.bytes_above(fault.stack_pointer);
  if (!f.stack)
    std::memcpy(f.stack_words, reinterpret_cast<const void*>(fault.stack_pointer),
                std::min(above, sizeof f.stack_words));
}

void Worker::access(sinter_virtual::Access kind, unsigned long address, unsigned long bytes,
                    unsigned long instruction) {
  Worker& w = *worker;
  w.in_check_ = true;
  const bool allowed = w.grid_->check->access(kind, address, bytes, w.actor(), w.fault_);
  w.in_check_ = false;
  if (allowed) [[likely]]
    return;
  w.fault_.instruction = instruction - 1;  // the call itself, not the instruction after it
  w.leave();
}

void Worker::fence() {
  Worker& w = *worker;
  w.in_check_ = true;
  w.grid_->check->fence(w.actor());
  w.in_check_ = false;
}

Actor Worker::actor() const noexcept {
  const unsigned thread = state.thread.x;
  const std::uint16_t in_warp = grid_->kernel->has_barriers ? warp_[thread / warp_lanes].interval : 0;
  return {state.block.x, static_cast<std::uint16_t>(thread), interval_, in_warp};
}

void Worker::fail(sinter_virtual::Failure failure, int line, unsigned long value, const char* what) {
  using sinter_virtual::Failure;
  const Fault::Kind kind = failure == Failure::Trap        ? Fault::Kind::Trap
                           : failure == Failure::Assertion ? Fault::Kind::Assertion
                           : failure == Failure::Index     ? Fault::Kind::Index
                                                           : Fault::Kind::Misaligned;
  Fault& f = worker->new_fault(kind, state.thread.x, line);
  f.address = value;
  std::snprintf(f.text, sizeof f.text, "%s", what ? what : "");
  worker->leave();
}

void Worker::fail_synchronisation(unsigned thread, int line, const char* format, ...) {
  Fault& f = new_fault(Fault::Kind::Synchronisation, thread, line);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(f.text, sizeof f.text, format, arguments);
  va_end(arguments);
  leave();
}

/// After all threads have run as far as possible: reports where they wait.
void Worker::explain_deadlock() {
  unsigned at_barrier = 0, at_warp = 0, barrier = 0, warp = 0;
  for (unsigned t = count_; t-- > 0;) {
    if (status_[t] == Status::AtBarrier) barrier = t, ++at_barrier;
    if (status_[t] == Status::AtWarp) warp = t, ++at_warp;
  }
  Fault& f =
      new_fault(Fault::Kind::Synchronisation, at_warp ? warp : barrier, at_warp ? call_[warp].line : line_[barrier]);
  int n = std::snprintf(f.text, sizeof f.text, "deadlock: ");
  const auto rest = [&] { return sizeof f.text - static_cast<std::size_t>(n); };
  if (at_barrier)
    n += std::snprintf(f.text + n, rest(), "%u threads (the first is thread %u) wait at the barrier at line %d, ",
                       at_barrier, barrier, line_[barrier]);
  if (at_warp)
    n += std::snprintf(f.text + n, rest(),
                       "%u (the first is thread %u) at the warp operation at line %d with mask %#010x, ", at_warp, warp,
                       call_[warp].line, call_[warp].mask);
  std::snprintf(f.text + n, rest(), "%u have returned", done_);
}

}  // namespace sinter::inline v1::runtime::vgpu
