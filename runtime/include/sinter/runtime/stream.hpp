// Streams: queues of a GPU's work. Without any, all threads share the default stream of each GPU.
#pragma once
#include <sinter/runtime/device.hpp>
#include <sinter/runtime/stream_impl.hpp>

namespace sinter::inline v1 {

class Stream;

/// Whether elapsed_ms() is wanted of an event: taking the time makes it a little dearer.
enum class Timing : bool { Off, On };

/// A point in the work of a stream, as Stream::record() gives. A handle: copies are the same event.
class Event {
 public:
  /// No event: using it throws Error.
  Event() = default;
  explicit Event(runtime::EventRef impl) noexcept : impl_(std::move(impl)) {}

  /// Waits until the work before it is done. Throws CudaError, as that work failed.
  void synchronize() const;
  /// Whether the work before it is done. Throws CudaError.
  bool query() const;
  /// Milliseconds from this event to a later one of the same GPU, both with Timing::On and done. Throws Error for other
  /// events, CudaError when one is not done yet.
  float elapsed_ms(const Event& end) const;
  Device device() const;
  /// The CUevent.
  void* native() const;

  /// For Sinter's own layers. Throws Error.
  runtime::EventImpl& impl() const;

 private:
  runtime::EventRef impl_;
};

/// A queue of a GPU's work; work of different streams may overlap. A handle: copies are the same stream, whose work
/// goes on when the last one is gone. Tensors may be used on any stream: Sinter puts the work on each in order.
class Stream {
 public:
  /// A new stream that does not wait for CUDA's legacy default stream. Throws DeviceError, CudaError.
  explicit Stream(Device device = Device(current_device()));
  /// A CUstream of another library's, which must stay valid until the last handle is gone; null is CUDA's legacy
  /// default stream. Throws DeviceError, and Error for CUDA's per-thread default stream, which is another one in each
  /// thread.
  static Stream from_native(void* cu_stream, Device device = Device(current_device()));
  explicit Stream(runtime::StreamRef impl) noexcept : impl_(std::move(impl)) {}

  Device device() const;
  /// Waits until all its work is done. Throws CudaError, as that work failed.
  void synchronize() const;
  /// Whether all its work is done. Throws CudaError.
  bool query() const;
  /// Work issued from now on waits for the event, or for what was issued to the other stream until now, on any GPU. The
  /// host does not wait. Throws CudaError, also where a capture of a graph makes it impossible.
  void wait(const Event& event) const;
  void wait(const Stream& other) const;
  /// Throws CudaError.
  Event record(Timing timing = Timing::Off) const;
  /// The CUstream.
  void* native() const;
  friend bool operator==(const Stream&, const Stream&) noexcept = default;

  /// For Sinter's own layers. Throw Error for a stream that was moved from, as all the others do.
  runtime::StreamImpl& impl() const;
  const runtime::StreamRef& ref() const;

 private:
  runtime::StreamRef impl_;
};

/// The stream that this thread's work on a GPU goes to. Throws DeviceError.
Stream current_stream(Device device = Device(current_device()));
/// The stream that all threads share. Throws DeviceError.
Stream default_stream(Device device = Device(current_device()));

/// Makes a stream the current one of its GPU, and its GPU the current one, for this thread, while it lives. Guards end
/// in the opposite order of their beginning.
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
