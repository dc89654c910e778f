// Reference-counted memory on a device.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <sinter/runtime/device.hpp>

namespace sinter::inline v1::runtime {

/// Base of classes with an intrusive reference count. Derived classes define `static void destroy(Derived*) noexcept`.
template <class Derived>
class Counted {
 public:
  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      Derived::destroy(const_cast<Derived*>(static_cast<const Derived*>(this)));
  }
  /// Current number of handles.
  std::uint32_t owners() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  mutable std::atomic<std::uint32_t> count_{1};
};

/// Owning handle of a Counted object.
template <class T>
class Ref {
 public:
  constexpr Ref() = default;
  /// Takes over one reference.
  static Ref adopt(T* p) noexcept { return Ref(p); }
  /// Adds one reference.
  static Ref share(T* p) noexcept {
    if (p) p->retain();
    return Ref(p);
  }
  Ref(const Ref& o) noexcept : p_(o.p_) {
    if (p_) p_->retain();
  }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_) p_->release();
  }
  T* get() const noexcept { return p_; }
  T* release() noexcept { return std::exchange(p_, nullptr); }
  T* operator->() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  friend bool operator==(const Ref&, const Ref&) noexcept = default;

 private:
  explicit constexpr Ref(T* p) : p_(p) {}
  T* p_ = nullptr;
};

struct StreamImpl;
struct StreamUses;
struct Shards;

/// Memory on one device, shared by the tensors that view it.
class Buffer : public Counted<Buffer> {
 public:
  /// Allocated in the order of the device's current stream. `bytes` may be 0. Throws OutOfMemory, DeviceError, and
  /// CudaError if that stream captures a graph and no cached block is large enough.
  static Ref<Buffer> allocate(Device device, std::size_t bytes);
  /// Page-locked host memory, which GPUs read asynchronously. Throws OutOfMemory, DeviceError.
  static Ref<Buffer> allocate_pinned(std::size_t bytes);
  /// Foreign memory: a mapped file, an array of another library. `owner` keeps it alive and is released with the
  /// buffer, after the host has waited for all GPU work on the memory. Writing to a tensor on it writes to the memory.
  static Ref<Buffer> over(std::byte* data, std::size_t bytes, std::shared_ptr<const void> owner,
                          Device device = Device());

  /// A part of another buffer's memory, which it keeps alive. It has a version of its own, `version` at first; streams
  /// are ordered by the uses of the whole.
  static Ref<Buffer> part(Ref<Buffer> whole, std::byte* data, std::size_t bytes, std::uint64_t version);
  /// The buffer that a part belongs to; null for others.
  Buffer* whole() const noexcept;

  /// The buffer of a tensor on a mesh: it has no memory of its own.
  static Ref<Buffer> of_shards(std::unique_ptr<const Shards> shards);
  /// Null if the buffer has memory.
  const Shards* shards() const noexcept;

  Device device() const noexcept { return device_; }
  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  bool is_pinned() const noexcept { return kind_ == Kind::Pinned; }
  /// Whether Sinter allocated it for a tensor: it is not pinned, foreign, sharded, or a part of another buffer.
  bool is_owned() const noexcept { return kind_ == Kind::Owned; }
  /// Number of writes to the contents; a lazy expression compares it.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
  /// Call it after writing to memory that others may have read. Other exposed buffers over the same memory get a new
  /// version too.
  void touch() noexcept {
    version_.fetch_add(1, std::memory_order_relaxed);
    if (overlaps_.load(std::memory_order_relaxed)) [[unlikely]]
      touch_others();
  }
  /// Marks the memory as exposed: its address is known outside, so it may be written to at any time without touch(),
  /// and other buffers may share it. Waits until no GPU reads pinned memory any more. Throws CudaError.
  void expose() {
    if (!is_exposed()) become_exposed();
    if (is_pinned()) synchronize();
  }
  bool is_exposed() const noexcept { return exposed_.load(std::memory_order_relaxed); }
  static void destroy(Buffer* buffer) noexcept;
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory, std::size_t bytes) noexcept;

 private:
  friend class UseRecord;
  enum class Kind : std::uint8_t { Owned, Pinned, Foreign, Sharded, Part };
  struct Foreign;
  struct Part;
  struct Sharded;
  class Exposed;
  Buffer(Device device, std::byte* data, std::size_t bytes, StreamImpl* home, Kind kind) noexcept;
  ~Buffer();
  void synchronize();
  void become_exposed();
  void touch_others() noexcept;

  Device device_;
  Kind kind_;
  std::atomic<bool> exposed_{false};
  std::atomic<bool> overlaps_{false};  // whether it has ever overlapped another exposed one
  std::byte* data_;
  std::size_t bytes_;
  std::atomic<std::uint64_t> version_{0};
  StreamImpl* home_;                  // stream for whose order it was allocated; null on devices without streams
  std::atomic<StreamImpl*> user_;     // the only stream that uses it; order.cpp
  std::unique_ptr<StreamUses> uses_;  // if several streams use it
};

}  // namespace sinter::inline v1::runtime
