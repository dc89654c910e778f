// The objects that handles of streams and events refer to.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <sinter/runtime/buffer.hpp>

namespace sinter::inline v1::runtime {

class Streams;

/// A queue of a GPU's work. It has a reference count but lives as long as its device, since buffers record who used
/// them: Sinter's own streams are reused, a foreign one is found again by its handle.
struct StreamImpl {
  enum class Kind : std::uint8_t { Default, Own, Foreign };

  StreamImpl(Streams& o, void* n, Kind k) noexcept : owner(o), native(n), kind(k), may_capture(k == Kind::Foreign) {}
  void retain() const noexcept { handles.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept;

  Streams& owner;
  void* const native;  // the driver's handle
  const Kind kind;
  mutable std::atomic<std::uint32_t> handles{0};
  std::atomic<bool> may_capture;  // the handle is known outside: ask the driver whether launches are captured
};

using StreamRef = Ref<StreamImpl>;

/// A point in a stream's work.
struct EventImpl : Counted<EventImpl> {
  EventImpl(Streams& o, void* n, bool t, bool captured) noexcept
      : owner(o), native(n), timed(t), may_be_captured(captured) {}
  static void destroy(EventImpl* event) noexcept;

  Streams& owner;
  void* const native;
  const bool timed;
  std::atomic<bool> may_be_captured;  // its stream may capture, or the handle is known outside
};

using EventRef = Ref<EventImpl>;

/// Work that must be done before memory is reused; null if there is none.
using Fence = std::unique_ptr<std::vector<EventRef>>;

/// Whether this process has used anything but the devices' default streams: other streams, copies between GPUs, pinned
/// memory. Until then work on every buffer is in order without any tracking.
extern std::atomic<bool> order_matters;

/// An entry in the linked list of this thread's guards.
struct CurrentStream {
  explicit CurrentStream(StreamRef s) noexcept;
  CurrentStream(const CurrentStream&) = delete;
  CurrentStream& operator=(const CurrentStream&) = delete;
  ~CurrentStream();

  StreamRef stream;
  CurrentStream* outer;
};

}  // namespace sinter::inline v1::runtime
