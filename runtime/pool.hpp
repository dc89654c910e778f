// Memory that is given back is kept and handed out again: asking a device or the operating system takes microseconds.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <sinter/runtime/device.hpp>

namespace sinter::inline v1::runtime {

/// Where a pool's memory comes from.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  /// `bytes` bytes aligned to 256, or null when there are none left.
  virtual void* acquire(std::size_t bytes) = 0;
  virtual void release(void* data, std::size_t bytes) noexcept = 0;
  /// Waits until all that was released can be acquired again.
  virtual void settle() {}
  virtual MemoryInfo memory() const = 0;
};

/// Free lists by size class, eight classes per doubling: a block is at most 1/8 larger than what was asked for.
/// Thread-safe, one lock per class. Blocks are handed out again at once, so on a device with asynchronous work all
/// users of a pool must share one stream.
class Pool {
 public:
  enum class Memory { Host, Device };  // host memory is poisoned while it is free, when built with AddressSanitizer
  struct Stats {
    std::size_t in_use;  // bytes, rounded up to the classes
    std::size_t cached;  // bytes
  };

  /// Keeps at most `cache_limit` bytes for later. `device` is named in errors.
  Pool(MemorySource& source, Device device, Memory memory, std::size_t cache_limit);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  /// At least `bytes` (> 0) bytes aligned to 256. Throws OutOfMemory once nothing cached is left.
  void* allocate(std::size_t bytes);
  /// `bytes` must be what allocate was asked for.
  void deallocate(void* data, std::size_t bytes) noexcept;
  /// Returns what is cached to the source; gives the number of bytes.
  std::size_t trim() noexcept;
  Stats stats() const;

  /// The bytes that a request really takes; 0 when no class is large enough.
  static std::size_t rounded(std::size_t bytes) noexcept;

 private:
  struct alignas(64) Bin {
    std::mutex mutex;
    std::vector<void*> free;
    std::size_t live = 0;  // blocks in use
  };

  void* take(Bin& bin) noexcept;
  bool keep(Bin& bin, void* data) noexcept;
  void* acquire(std::size_t size, std::size_t bytes);
  [[noreturn]] void throw_out_of_memory(std::size_t bytes, std::size_t returned) const;

  MemorySource& source_;
  Device device_;
  Memory memory_;
  std::size_t cache_limit_;
  std::unique_ptr<Bin[]> bins_;
  std::atomic<std::size_t> cached_{0};
};

}  // namespace sinter::inline v1::runtime
