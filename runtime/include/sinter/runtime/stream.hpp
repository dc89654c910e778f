// Streams: queues of a GPU's work. By default all threads share the default stream of each GPU.
#pragma once
#include <sinter/runtime/device.hpp>
#include <sinter/runtime/stream_impl.hpp>

namespace sinter::inline v1 {

class Stream;

/// Whether an event supports elapsed_ms(), which makes it slightly more expensive.
enum class Timing : bool { Off, On };

/// A point in the work of a stream, from Stream::record(). A handle: copies are the same event.
class Event {
 public:
  /// No event: using it throws Error.
  Event() = default;
  explicit Event(runtime::EventRef impl) noexcept : impl_(std::move(impl)) {}

  /// Waits until the work before it is done. Throws CudaError if that work failed.
  void synchronize() const;
  /// Whether the work before it is done. Throws CudaError.
  bool query() const;
  /// Milliseconds from this event to a later one of the same GPU, both with Timing::On and done. Throws Error for other
  /// events, CudaError if one is not done yet.
  float elapsed_ms(const Event& end) const;
  Device device() const;
  /// The CUevent.
  void* native() const;

  /// For Sinter's own layers. Throws Error.
  runtime::EventImpl& impl() const;

 private:
  runtime::EventRef impl_;
};

/// A queue of a GPU's work; work of different streams may overlap. A handle: copies are the same stream, and its work
/// continues after the last one is destroyed. Tensors may be used on any stream: Sinter orders the work on each tensor.
class Stream {
 public:
  /// A new stream that does not wait for CUDA's legacy default stream. Throws DeviceError, CudaError.
  explicit Stream(Device device = Device(current_device()));
  /// Wraps another library's CUstream, which must stay valid until the last handle is destroyed; null is CUDA's legacy
  /// default stream. Throws DeviceError, and Error for CUDA's per-thread default stream, which differs in each thread.
  static Stream from_native(void* cu_stream, Device device = Device(current_device()));
  explicit Stream(runtime::StreamRef impl) noexcept : impl_(std::move(impl)) {}

  Device device() const;
  /// Waits until all its work is done. Throws CudaError if that work failed.
  void synchronize() const;
  /// Whether all its work is done. Throws CudaError.
  bool query() const;
  /// Work issued from now on waits for the event, or for everything issued so far to the other stream, on any GPU. The
  /// host does not wait. Throws CudaError, also if a graph capture makes it impossible.
  void wait(const Event& event) const;
  void wait(const Stream& other) const;
  /// Throws CudaError.
  Event record(Timing timing = Timing::Off) const;
  /// The CUstream.
  void* native() const;
  friend bool operator==(const Stream&, const Stream&) noexcept = default;

  /// For Sinter's own layers. Throws Error for a moved-from stream, like all other functions.
  runtime::StreamImpl& impl() const;
  const runtime::StreamRef& ref() const;

 private:
  runtime::StreamRef impl_;
};

/// The stream of a GPU to which this thread issues work. Throws DeviceError.
Stream current_stream(Device device = Device(current_device()));
/// The default stream, shared by all threads. Throws DeviceError.
Stream default_stream(Device device = Device(current_device()));

/// For its lifetime, makes a stream the current one of its GPU, and its GPU the current one, in this thread. Guards
/// end in the reverse order of their construction.
class [[nodiscard]] StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  runtime::CurrentStream link_;
  int outer_device_;
};

}  // namespace sinter::inline v1
