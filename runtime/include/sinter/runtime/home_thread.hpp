// Threads that count holds of the objects they made without atomic read-modify-writes.
#pragma once
#include <sinter/runtime/interference_size.hpp>

#include <sys/types.h>

#include <atomic>

namespace sinter::inline v1::runtime {

/// A thread that makes counted objects. When it has ended, a later one takes its place and becomes the home of its
/// objects, so there are never two at once.
struct alignas(interference_size) HomeThread {
  /// The calling thread, as the home of an object that it makes. Nobody, if the thread is ending, threads cannot be
  /// fenced, or memory runs out.
  static HomeThread* for_new_object() noexcept { return current != nullptr ? current : enter(); }
  /// Waits until the thread is not changing the object's count, if it exists in this process.
  void wait_while_counting(const void* object) const noexcept;

  /// Null before the calling thread makes its first object, and when it ends.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local HomeThread* current;

  /// The object whose count the thread is changing, or null.
  std::atomic<const void*> counting{nullptr};

 private:
  struct InChild;
  static HomeThread* enter() noexcept;
  static HomeThread* take();
  void leave() noexcept;

  std::atomic<bool> is_taken_{true};
  std::atomic<::pid_t> process_{0};
  HomeThread* next_ = nullptr;
};

}  // namespace sinter::inline v1::runtime
