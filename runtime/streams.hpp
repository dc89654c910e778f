// The streams of one device: the default stream, Sinter's own and foreign ones.
#pragma once
#include <array>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sinter/runtime/device.hpp>
#include <sinter/runtime/stream_impl.hpp>

#include "fork.hpp"

namespace sinter::inline v1::runtime {

/// A device's functions for streams and events, on its own handles. Thread-safe. All except noexcept ones throw
/// CudaError.
class StreamCalls {
 public:
  virtual ~StreamCalls() = default;
  virtual void* create_stream() = 0;
  virtual void destroy_stream(void* stream) noexcept = 0;
  virtual bool is_idle(void* stream) = 0;
  virtual bool is_capturing(void* stream) = 0;
  virtual void synchronize(void* stream) = 0;

  virtual void* create_event(bool timed) = 0;
  virtual void destroy_event(void* event) noexcept = 0;
  virtual void record(void* event, void* stream) = 0;
  /// The event may belong to another device.
  virtual void wait(void* stream, void* event) = 0;
  virtual bool is_done(void* event) = 0;
  /// is_done() for internal bookkeeping: it does not count as the program's knowing that the work is done.
  virtual bool is_past(void* event) { return is_done(event); }
  virtual void synchronize_event(void* event) = 0;
  virtual float elapsed_ms(void* begin, void* end) = 0;
};

/// Thread-safe. Functions that throw throw CudaError.
class Streams {
 public:
  Streams(Device device, StreamCalls& calls);
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  /// The device must be idle.
  ~Streams();

  Device device() const noexcept { return device_; }
  StreamImpl& standard() noexcept { return *default_; }
  /// This thread's current stream.
  StreamImpl& current() noexcept { return order_matters.load(std::memory_order_relaxed) ? innermost() : *default_; }

  StreamRef create();
  /// The stream with this handle. Its owner must keep it valid while handles to it exist.
  StreamRef wrap(void* native);
  /// Called when the last handle is destroyed.
  void retire(StreamImpl& stream) noexcept;

  bool is_idle(const StreamImpl& stream);
  bool is_capturing(const StreamImpl& stream);
  /// Whether it is a foreign stream without handles: its native handle may be invalid.
  bool is_retired(const StreamImpl& stream);
  void synchronize(const StreamImpl& stream);
  /// Waits for all streams with handles, and for all of Sinter's own.
  void synchronize();

  EventRef record(const StreamImpl& stream, bool timed = false);
  /// An event after everything issued to a stream so far: for a retired stream its last event, or null if that is done.
  EventRef end_of(const StreamImpl& stream);
  /// Events after all current work of the streams; nullopt while a stream captures, when the driver cannot be queried.
  std::optional<std::vector<EventRef>> ends();
  void wait(const StreamImpl& stream, const EventImpl& event) { calls_.wait(stream.native, event.native); }
  bool is_done(const EventImpl& event) { return calls_.is_done(event.native); }
  bool is_past(const EventImpl& event) { return calls_.is_past(event.native); }
  void synchronize(const EventImpl& event);
  float elapsed_ms(const EventImpl& begin, const EventImpl& end) { return calls_.elapsed_ms(begin.native, end.native); }
  /// Called when its last handle is destroyed.
  void recycle(EventImpl& event) noexcept;

 private:
  friend ForkHandler;
  struct KnownStream {
    explicit KnownStream(std::unique_ptr<StreamImpl> s) : stream(std::move(s)) {}
    std::unique_ptr<StreamImpl> stream;
    bool retired = false;
    EventRef last;  // of a retired foreign stream
  };
  /// Called with the lock held, or from the constructor.
  StreamImpl& add(void* native, StreamImpl::Kind kind);
  StreamImpl& add_new(StreamImpl::Kind kind);
  void before_fork() noexcept {
    mutex_.lock();
    events_mutex_.lock();
  }
  void after_fork(bool) noexcept {
    events_mutex_.unlock();
    mutex_.unlock();
  }
  StreamImpl& innermost() noexcept;
  /// The streams with handles and all of Sinter's own, and the last events of the others.
  struct All {
    std::vector<StreamRef> open;
    std::vector<EventRef> last;
  };
  All all();
  KnownStream& known(const StreamImpl& stream);
  template <class F, class G>
  auto alive_or_retired(const StreamImpl& stream, F alive, G retired);

  Device device_;
  StreamCalls& calls_;
  std::mutex mutex_;
  std::deque<KnownStream> streams_;  // the default stream first
  StreamImpl* default_;
  std::mutex events_mutex_;
  std::array<std::vector<void*>, 2> idle_events_;  // without timing, with it
  ForkHandler fork_handler_{*this};
};

/// For messages: "stream 0x1234 of cuda:0".
std::string describe(const StreamImpl& stream);

/// Makes future work on `stream` wait for everything issued to `other`. Throws CudaError, with advice if one of them
/// captures a graph that does not include the other.
void wait_for(StreamImpl& stream, StreamImpl& other);
void wait_for(StreamImpl& stream, const EventImpl& event);

}  // namespace sinter::inline v1::runtime
