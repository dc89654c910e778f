// Threads that count holds of the objects they made without atomic instructions.
#pragma once
#include <sinter/runtime/interference_size.hpp>

#include <atomic>

namespace sinter::inline v1::runtime {

/// A thread that makes counted objects. Another one takes its place when it has ended, so there are never two at once.
struct alignas(interference_size) HomeThread {
  /// The calling thread, as the home of an object that it makes; nobody's home while the thread ends, or if threads
  /// cannot be fenced.
  static HomeThread* of_new_object() noexcept { return current != nullptr ? current : enter(); }

  /// Null before the calling thread makes its first object, and after its end.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local HomeThread* current;

  /// The object whose count the thread is changing. Another thread that ends this count waits until it is another one.
  std::atomic<const void*> counting{nullptr};

 private:
  static HomeThread* enter() noexcept;
};

}  // namespace sinter::inline v1::runtime
