// Caches freed memory for reuse: allocating from a device or the operating system takes microseconds.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <sinter/runtime/device.hpp>
#include <sinter/runtime/interference_size.hpp>
#include <sinter/runtime/memory.hpp>
#include <sinter/runtime/stream_impl.hpp>

#include "fork.hpp"
#include "stripe.hpp"

namespace sinter::inline v1::runtime {

/// A pool's source of memory.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  /// `bytes` bytes aligned to 256, or null if there is no memory left. `stream` is the one whose work may use them;
  /// null without streams.
  virtual void* acquire(std::size_t bytes, StreamImpl* stream) = 0;
  /// Frees the memory after the work of `stream` and the fence are done.
  virtual void release(void* data, std::size_t bytes, StreamImpl* stream, Fence fence) noexcept = 0;
  /// Waits until all released memory can be acquired again.
  virtual void synchronize() {}
  virtual MemoryInfo memory() const = 0;
};

/// Free lists by size class, eight classes per doubling: a block is at most 1/8 larger than the request. Thread-safe,
/// one lock per class; in front of these, small host blocks have stripes, each with a lock of its own, so that threads
/// seldom write to the same cache lines. A block belongs to the stream that it was first allocated for and is reused in
/// that stream's order: at once, or after a fence if other streams used it. Without streams (null), a block is reused
/// when its fence is done.
class Pool {
 public:
  enum class Memory { Host, Device };  // free host memory is poisoned in builds with AddressSanitizer

  /// Caches at most `cache_limit` bytes. `device` is named in errors.
  Pool(MemorySource& source, Device device, Memory memory, std::size_t cache_limit);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  /// At least `bytes` (> 0) bytes aligned to 256. Throws OutOfMemory if that fails even after freeing the cache.
  void* allocate(std::size_t bytes, StreamImpl* stream = nullptr);
  /// `bytes` and `stream` must be those passed to allocate.
  void deallocate(void* data, std::size_t bytes, StreamImpl* stream = nullptr, Fence&& fence = {}) noexcept;
  /// Returns cached memory to the source; returns the number of bytes.
  std::size_t trim() noexcept;
  MemoryStats stats() const;
  void reset_peak() noexcept;

  /// The bytes that a request takes after rounding; 0 if no size class is large enough.
  static std::size_t rounded(std::size_t bytes) noexcept;

 private:
  friend ForkHandler;
  struct Block {
    void* data = nullptr;
    Fence fence;
  };
  struct List {
    StreamImpl* stream;
    std::vector<Block> blocks;
  };
  struct alignas(64) Bin {
    std::mutex mutex;
    std::vector<List> lists;  // one per stream
    std::size_t live = 0;     // blocks in use
    std::size_t requests = 0;

    std::vector<Block>* find(const StreamImpl* stream) noexcept {
      for (List& list : lists)
        if (list.stream == stream) [[likely]]
          return &list.blocks;
      return nullptr;
    }
  };

  static constexpr int stripe_classes = 48;               // up to 64 KiB
  static constexpr int stripe_blocks = 4;                 // of each class
  static constexpr std::size_t stripe_bytes = 256 << 10;  // of all
  /// Free blocks for the threads of a stripe. Those in use may have come from another one, or go there.
  struct alignas(interference_size) Stripe {
    std::mutex mutex;
    std::atomic<std::size_t> cached{0};  // bytes; part of in_use_
    std::int64_t in_use = 0;             // bytes
    std::int64_t live = 0;
    std::size_t requests = 0;
    std::uint8_t counts[stripe_classes] = {};
    void* blocks[stripe_classes][stripe_blocks];
  };

  void before_fork() noexcept {}
  void after_fork(bool in_child) noexcept;
  bool has_stripe(int size_class) const noexcept { return stripes_ && size_class < stripe_classes; }
  void* take_from_stripe(int size_class, std::size_t size) noexcept;
  bool keep_in_stripe(int size_class, std::size_t size, void* data) noexcept;
  template <class F>
  std::size_t take_all(Stripe& stripe, F f) noexcept;
  void empty_stripe(Stripe& stripe) noexcept;
  std::size_t trim_stripes() noexcept;
  std::size_t trim_bins() noexcept;
  void* take(Bin& bin, StreamImpl* stream);
  static void* take_fenced(std::vector<Block>& blocks, StreamImpl* stream);
  bool keep(Bin& bin, void* data, StreamImpl* stream, Fence& fence) noexcept;
  void release(int size_class, void* data, StreamImpl* stream, Fence&& fence) noexcept;
  void* acquire(std::size_t size, std::size_t bytes, StreamImpl* stream);
  void count_use(std::size_t size) noexcept;
  void raise_peak() noexcept;
  void log_trimmed(std::size_t bytes) const noexcept;
  [[noreturn]] void throw_out_of_memory(std::size_t bytes, std::size_t returned) const;

  MemorySource& source_;
  Device device_;
  Memory memory_;
  std::size_t cache_limit_;
  std::unique_ptr<Bin[]> bins_;
  std::unique_ptr<Stripe[]> stripes_;   // null without
  std::atomic<std::size_t> held_{0};    // bytes acquired from the source
  std::atomic<std::size_t> in_use_{0};  // and in stripes
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::uint64_t> acquired_{0};  // number of acquisitions from the source
  ForkHandler fork_handler_{*this};
};

}  // namespace sinter::inline v1::runtime
