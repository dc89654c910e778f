// What the child of a fork finds: no change half made, no lock held, and nothing that it would wait for in vain.
#pragma once
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>

namespace sinter::inline v1::runtime {

/// Another number in the child of a fork than in its parent.
extern constinit std::atomic<unsigned> process_generation;
inline unsigned generation() noexcept { return process_generation.load(std::memory_order_relaxed); }

/// A fork waits while another thread has one of these, so the child never finds half of what is done meanwhile. They
/// nest. For short work that does not wait for others: a lock is taken after it, or never with it.
class NoFork {
 public:
  /// Throws Error in a child that was forked all the same, since its parent's thread did not come to an end.
  NoFork();
  /// For what must go on: never throws.
  explicit NoFork(std::nothrow_t) noexcept;
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
  ~NoFork();
};

/// For tests: how long a fork waits, five seconds at first.
void set_fork_patience(std::chrono::milliseconds patience) noexcept;

/// A lock that no child of a fork finds held.
class ForkSafeLock {
 public:
  explicit ForkSafeLock(std::mutex& mutex) : lock_(mutex) {}
  ForkSafeLock(std::mutex& mutex, std::nothrow_t) noexcept : no_fork_(std::nothrow), lock_(mutex) {}

 private:
  NoFork no_fork_;
  std::lock_guard<std::mutex> lock_;
};

/// Calls an object's before_fork() in the parent and after_fork(bool in_child) in both, while no other thread is in a
/// NoFork. For locks that are taken without one, because that would take time where it counts; then no NoFork is made
/// under them. To be the object's last member.
class ForkHandler {
 public:
  /// Inner locks are those that others take while they hold an outer one.
  enum class Order { Outer, Inner };

  template <class T>
  explicit ForkHandler(T& object, Order order = Order::Outer)
      : ForkHandler(
            &object, order, [](void* o) noexcept { static_cast<T*>(o)->before_fork(); },
            [](void* o, bool in_child) noexcept { static_cast<T*>(o)->after_fork(in_child); }) {}
  ForkHandler(const ForkHandler&) = delete;
  ForkHandler& operator=(const ForkHandler&) = delete;
  ~ForkHandler();

 private:
  friend struct ForkHandlers;
  using Before = void (*)(void*) noexcept;
  using After = void (*)(void*, bool) noexcept;
  ForkHandler(void* object, Order order, Before before, After after);

  void* const object_;
  const Before before_;
  const After after_;
  ForkHandler* next_ = nullptr;
};

/// A T that is made when first asked for and never destroyed: like a static variable of a function, whose making a
/// child could wait for for ever. Put it into static storage.
template <class T>
class Immortal {
 public:
  T& get() {
    return get([] { return new T; });
  }
  /// `make` gives a new T*. What it throws is thrown, and the next call tries again.
  template <class F>
  T& get(F make) {
    if (T* made = made_.load(std::memory_order_acquire)) [[likely]]
      return *made;
    const ForkSafeLock lock(making_);
    if (!made_.load(std::memory_order_relaxed)) made_.store(make(), std::memory_order_release);
    return *made_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<T*> made_{nullptr};
  std::mutex making_;
};

/// A T for each process: the child of a fork gets a new one. For locks and conditions that are held or waited for
/// longer than a fork may be kept waiting.
template <class T>
class PerProcess {
 public:
  PerProcess() = default;
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;
  /// A parent's stays: its threads may hold it.
  ~PerProcess() {
    if (T* own = find()) delete static_cast<Own*>(own);
  }

  T& get() {
    Own* known = own_.load(std::memory_order_acquire);
    if (known && known->made_in == generation()) [[likely]]
      return *known;
    Own* fresh = new Own;
    if (own_.compare_exchange_strong(known, fresh, std::memory_order_acq_rel, std::memory_order_acquire)) return *fresh;
    delete fresh;  // another thread was faster
    return *known;
  }
  /// Null where this process has not asked for it.
  T* find() noexcept {
    Own* known = own_.load(std::memory_order_acquire);
    return known && known->made_in == generation() ? known : nullptr;
  }

 private:
  struct Own : T {
    const unsigned made_in = generation();
  };
  std::atomic<Own*> own_{nullptr};
};

}  // namespace sinter::inline v1::runtime
