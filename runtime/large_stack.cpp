#include "large_stack.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <sinter/runtime/error.hpp>

#include <sinter/runtime/float_environment.hpp>
#include "fork.hpp"

namespace sinter::inline v1::runtime {
namespace {

constexpr std::size_t stack_bytes = std::size_t(16) << 20;

constinit thread_local bool on_large_stack = false;
constinit thread_local bool runs_queued_work = false;
constinit std::atomic<bool> process_is_ending{false};

/// Work that waits for a thread, and the current threads.
struct Queue {
  std::mutex mutex;
  std::condition_variable ended;
  std::deque<std::function<void()>> waiting;
  unsigned workers = 0;  // threads that take from `waiting`
  unsigned running = 0;  // threads of both kinds
};
/// The child of a fork does not have its parent's threads. Threads may outlive main.
ForkLocal<Queue>& queues() {
  static constinit NoDestructor<ForkLocal<Queue>> all;
  return all.get();
}
Queue& queue() { return queues().get(); }

void count_ended() {
  Queue& q = queue();
  const std::lock_guard lock(q.mutex);
  --q.running;
  q.ended.notify_all();
}

/// Starts a detached thread that runs the body. The caller holds the queue's mutex.
bool start(Queue& q, std::function<void()> body) {
  auto owned = std::make_unique<std::function<void()>>(std::move(body));
  const auto entry = [](void* data) -> void* {
    on_large_stack = true;
    {
      const DefaultFloatEnvironment floats;  // threads inherit floating-point settings, and compilers fold constants
      const std::unique_ptr<std::function<void()>> mine(static_cast<std::function<void()>*>(data));
      (*mine)();
    }
    count_ended();
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const bool started = pthread_create(&thread, &attributes, entry, owned.get()) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) return false;
  static_cast<void>(owned.release());
  ++q.running;
  return true;
}

[[noreturn]] void throw_no_thread() {
  throw Error("cannot start a thread to compile a kernel: the process is at its limit of threads");
}

/// Work that a caller waits for.
struct Job {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr error;

  void run(const std::function<void()>& work) {
    std::exception_ptr thrown;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    error = std::move(thrown);
    done = true;
    changed.notify_all();
  }
  void wait(std::chrono::milliseconds interval, const std::function<void()>& tick) {
    std::unique_lock lock(mutex);
    const auto is_done = [&] { return done; };
    while (tick && !changed.wait_for(lock, interval, is_done)) {
      lock.unlock();
      tick();
      lock.lock();
    }
    changed.wait(lock, is_done);
  }
};

/// Runs queued work until there is none.
void work_off() {
  runs_queued_work = true;
  Queue& q = queue();
  for (;;) {
    std::function<void()> work;
    {
      const std::lock_guard lock(q.mutex);
      if (q.waiting.empty()) {
        --q.workers;
        return;
      }
      work = std::move(q.waiting.front());
      q.waiting.pop_front();
    }
    work();
  }
}

}  // namespace

bool is_queued_work() noexcept { return runs_queued_work; }
const std::atomic<bool>& is_process_ending() noexcept { return process_is_ending; }

void run_on_large_stack(const std::function<void()>& work, std::chrono::milliseconds interval,
                        const std::function<void()>& tick) {
  if (on_large_stack) return work();
  // Shared: the thread may still be unlocking the job's mutex when the caller sees it done.
  const auto job = std::make_shared<Job>();
  {
    Queue& q = queue();
    const ForkSafeLock lock(q.mutex);  // starting a thread takes locks of the C library
    if (!start(q, [job, &work] { job->run(work); })) throw_no_thread();
  }
  job->wait(interval, tick);
  if (job->error) std::rethrow_exception(std::exchange(job->error, nullptr));
}

void queue_on_large_stack(std::function<void()> work) {
  static constinit NoDestructor<const bool> registered;
  registered.get([] { return new bool(std::atexit(end_large_stacks) == 0); });
  Queue& q = queue();
  const ForkSafeLock lock(q.mutex);
  q.waiting.push_back(std::move(work));
  if (q.workers >= std::max(std::thread::hardware_concurrency(), 2u)) return;
  try {
    if (!start(q, work_off)) throw_no_thread();
    ++q.workers;
  } catch (...) {
    if (q.workers > 0) return;  // another worker will take it
    q.waiting.pop_back();
    throw;
  }
}

void wait_for_large_stacks() noexcept {
  Queue* const q = queues().find();
  if (!q) return;                             // any threads belong to the parent
  std::deque<std::function<void()>> dropped;  // destroyed after unlocking
  std::unique_lock lock(q->mutex);
  dropped.swap(q->waiting);
  if (!on_large_stack) q->ended.wait(lock, [&] { return q->running == 0; });
}

void end_large_stacks() noexcept {
  process_is_ending = true;
  wait_for_large_stacks();
}

}  // namespace sinter::inline v1::runtime
