// Keeps the uses of every buffer in order where several streams take part.
#pragma once
#include <span>

#include <sinter/runtime/stream_impl.hpp>

namespace sinter::inline v1::runtime {

/// A buffer that a piece of work reads, or also writes. Null: an operand without memory.
struct Use {
  Buffer* buffer;
  bool writes;
};

/// Lives around the call that issues work to the current stream of a device, or does it on the host. On the way in, the
/// stream waits for those that wrote what is read, and for those that used what is written; the host waits itself,
/// which concerns pinned memory alone. On the way out the stream is among each buffer's users.
///
/// Waits are for all that a stream was given so far: an event is recorded when somebody waits and not before, apart
/// from transfers, which mark their own end.
class Ordered {
 public:
  /// `uses` must live as long. Throws CudaError.
  Ordered(Device device, std::span<const Use> uses) : uses_(uses) {
    if (order_matters.load(std::memory_order_relaxed)) [[unlikely]]
      begin(device);
  }
  Ordered(const Ordered&) = delete;
  Ordered& operator=(const Ordered&) = delete;
  ~Ordered() {
    if (active_) [[unlikely]]
      end();
  }
  /// Whoever waits for these uses waits for what was issued until now, and for nothing later. Throws CudaError.
  void mark_end();

 private:
  void begin(Device device);
  void end() noexcept;

  std::span<const Use> uses_;
  StreamImpl* stream_ = nullptr;  // null: the host
  bool active_ = false;
  bool marked_end_ = false;
};

/// What must be done before the buffer's memory is used again in the order of its home stream. `captured` says that a
/// graph being captured uses it, which may run at any time later.
Fence last_uses(Buffer& buffer, bool& captured) noexcept;

}  // namespace sinter::inline v1::runtime
