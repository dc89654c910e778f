// Epoch-based reclamation: what threads find in caches without a lock stays until none of them can be using it.
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

/// While a thread has one, nothing that it finds is destroyed. They nest. What is found and what says that it is there
/// are read with memory_order_seq_cst, and taken out so.
class Reading {
 public:
  /// Throws std::bad_alloc in a thread's first one.
  Reading();
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() {
    if (--reader_.depth == 0) end();
  }

 private:
  /// The newest epoch that something waits for; 0 where nothing does.
  static constinit std::atomic<std::uint64_t> awaited_;
  friend void destroy_later(std::shared_ptr<const void> object) noexcept;
  friend void destroy_what_nobody_reads() noexcept;

  void end() noexcept;

  Reader& reader_;
};

/// Takes an object that nobody can find from now on, and lets go of it when every Reading of now has ended.
void destroy_later(std::shared_ptr<const void> object) noexcept;
/// Does so where that is the case. Readings do it when they end.
void destroy_what_nobody_reads() noexcept;

}  // namespace sinter::inline v1::jit
