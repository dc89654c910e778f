// Epoch-based reclamation: objects that threads find in caches without a lock live until no thread can be using them.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace sinter::inline v1::jit {

/// One for each thread.
struct Reader {
  Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  std::atomic<std::uint64_t> since{0};  // the epoch in which its outermost Reading began; 0 outside
  int depth = 0;
};

/// While a thread has one, nothing that it finds is destroyed. They nest. Pointers to such objects must be read and
/// removed with memory_order_seq_cst.
class Reading {
 public:
  /// Only a thread's first one may throw std::bad_alloc.
  Reading();
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() {
    if (--reader_.depth == 0) end();
  }

 private:
  /// The newest epoch that an object waits for; 0 if none does.
  static constinit std::atomic<std::uint64_t> awaited_;
  friend void destroy_later(std::shared_ptr<const void> object) noexcept;
  friend void destroy_unread() noexcept;

  void end() noexcept;

  Reader& reader_;
};

/// Takes an object that can no longer be found, and releases it when all current Readings have ended.
void destroy_later(std::shared_ptr<const void> object) noexcept;
/// Releases the objects that no Reading can be using. Also called when Readings end.
void destroy_unread() noexcept;

}  // namespace sinter::inline v1::jit
