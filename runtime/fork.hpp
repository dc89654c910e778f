// Protects the child of a fork from partial updates, held locks and endless waits.
#pragma once
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>

namespace sinter::inline v1::runtime {

/// Differs between the child of a fork and its parent.
extern constinit std::atomic<unsigned> process_generation;
inline unsigned generation() noexcept { return process_generation.load(std::memory_order_relaxed); }

/// A fork waits while another thread holds one of these, so the child never sees its work unfinished. They nest. For
/// short work that does not wait for other threads: take a lock after it, or never with it.
class NoFork {
 public:
  /// Throws Error in a child that was forked anyway, because its parent's thread did not finish in time.
  NoFork();
  /// For work that must not fail: never throws.
  explicit NoFork(std::nothrow_t) noexcept;
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
  ~NoFork();
};

/// For tests: how long a fork waits; initially five seconds.
void set_fork_patience(std::chrono::milliseconds patience) noexcept;

/// A lock that is never held in the child of a fork.
class ForkSafeLock {
 public:
  explicit ForkSafeLock(std::mutex& mutex) : lock_(mutex) {}
  ForkSafeLock(std::mutex& mutex, std::nothrow_t) noexcept : no_fork_(std::nothrow), lock_(mutex) {}

 private:
  NoFork no_fork_;
  std::lock_guard<std::mutex> lock_;
};

/// Calls an object's before_fork() in the parent and after_fork(bool in_child) in both, while no other thread is in a
/// NoFork, or after one has been for too long. For short locks on hot paths, taken without a NoFork; no NoFork may be
/// constructed while such a lock is held. Must be the object's last member.
class ForkHandler {
 public:
  /// Inner locks are taken while an outer one is held.
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

/// A T for each process: the child of a fork gets a new one. For locks and condition variables that are held or waited
/// for longer than a fork may wait.
template <class T>
class ForkLocal {
 public:
  constexpr ForkLocal() = default;
  ForkLocal(const ForkLocal&) = delete;
  ForkLocal& operator=(const ForkLocal&) = delete;
  /// The parent's object is kept: its threads may hold it.
  ~ForkLocal() {
    if (T* own = find()) delete static_cast<Own*>(own);
  }

  T& get() {
    Own* known = own_.load(std::memory_order_acquire);
    if (known && known->made_in == generation()) [[likely]]
      return *known;
    Own* fresh = new Own;
    if (own_.compare_exchange_strong(known, fresh, std::memory_order_acq_rel, std::memory_order_acquire)) return *fresh;
    delete fresh;  // another thread was first
    return *known;
  }
  /// Null if this process has not used it.
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

/// A T created on first use and never destroyed, like a function's static variable. But a child could wait forever for
/// a static variable that its parent was initializing; here the child creates its own. For static storage only.
template <class T>
class NoDestructor {
 public:
  T& get() {
    return get([] { return new T; });
  }
  /// `make` returns a new T*. Its exceptions propagate, and the next call tries again.
  template <class F>
  T& get(F make) {
    if (T* made = made_.load(std::memory_order_acquire)) [[likely]]
      return *made;
    const std::lock_guard lock(making_.lock.get());  // possibly for long
    if (!made_.load(std::memory_order_relaxed)) made_.store(make(), std::memory_order_release);
    return *made_.load(std::memory_order_relaxed);
  }

 private:
  union NeverDestroyed {
    constexpr NeverDestroyed() : lock() {}
    ~NeverDestroyed() {}
    ForkLocal<std::mutex> lock;
  };
  std::atomic<T*> made_{nullptr};
  NeverDestroyed making_;
};

}  // namespace sinter::inline v1::runtime
