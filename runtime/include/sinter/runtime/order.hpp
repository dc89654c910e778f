// Keeps the uses of every buffer in order when several streams are involved.
#pragma once
#include <span>

#include <sinter/runtime/stream_impl.hpp>

namespace sinter::inline v1::runtime {

/// A buffer that an operation reads, and possibly writes. Null: an operand without memory.
struct BufferAccess {
  Buffer* buffer;
  bool writes;
};

/// Surrounds the call that issues work to the current stream of a device, or does it on the host. The constructor makes
/// the stream wait for the streams that wrote what is read and used what is written; work on the host, which matters
/// only for pinned memory, makes the host wait. The destructor adds the stream to each buffer's users.
///
/// A wait covers everything issued to a stream so far: events are recorded only when a wait needs one, except by
/// transfers, which mark their own end.
class DependencyGuard {
 public:
  /// `uses` must live as long as this object. Throws CudaError.
  DependencyGuard(Device device, std::span<const BufferAccess> uses) : uses_(uses) {
    if (order_matters.load(std::memory_order_relaxed)) [[unlikely]]
      begin(device);
  }
  DependencyGuard(const DependencyGuard&) = delete;
  DependencyGuard& operator=(const DependencyGuard&) = delete;
  ~DependencyGuard() {
    if (active_) [[unlikely]]
      end();
  }
  /// Later waits for these uses cover only what has been issued until now. Throws CudaError.
  void mark_end();

 private:
  void begin(Device device);
  void end() noexcept;

  std::span<const BufferAccess> uses_;
  StreamImpl* stream_ = nullptr;  // null: the host
  bool active_ = false;
  bool marked_end_ = false;
};

/// The work that must be done before the buffer's memory is reused in the order of its home stream. `captured` is set
/// if a graph being captured uses it, since that graph may run at any later time.
Fence last_uses(Buffer& buffer, bool& captured) noexcept;

}  // namespace sinter::inline v1::runtime
