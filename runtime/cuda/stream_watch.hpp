// Waiting for work of other libraries that may never end, such as NCCL's when a peer has died.
#pragma once
#include <string>

#include "driver.hpp"

namespace sinter::inline v1::runtime {

/// An object that can detect why work on streams does not finish. While it expects work, threads that wait for a stream
/// poll it instead of entering a driver wait that nothing can interrupt.
class StreamWatch {
 public:
  StreamWatch(const StreamWatch&) = delete;
  StreamWatch& operator=(const StreamWatch&) = delete;

  /// Called from any waiting thread, one at a time. Aborts work that will not finish and returns the reason; empty if
  /// there is none.
  virtual std::string look() = 0;

 protected:
  StreamWatch() = default;
  /// Must be called before the data that look() uses is destroyed.
  void end_watch() noexcept;
  ~StreamWatch() { end_watch(); }
  /// Sets the number of operations that are expected to finish. From the first nonzero number on, waiting threads poll.
  void expect(int operations);

 private:
  bool is_asked_ = false;
  int expected_ = 0;
};

/// Like the driver's calls. Throw Error if a watch aborted the work; its results are then undefined.
driver::CUresult synchronize(const driver::Driver& d, driver::CUstream stream);
driver::CUresult synchronize(const driver::Driver& d, driver::CUevent event);

/// While something is watched, waits until the stream's work is done. For use before driver calls that would wait
/// themselves, such as copies to memory that is not pinned.
void watch(const driver::Driver& d, driver::CUstream stream);

/// Allows this thread to query the driver while a graph is being captured elsewhere, without disturbing the capture.
class RelaxedCaptureMode {
 public:
  explicit RelaxedCaptureMode(const driver::Driver& d) : d_(d) { d_.cuThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCaptureMode(const RelaxedCaptureMode&) = delete;
  RelaxedCaptureMode& operator=(const RelaxedCaptureMode&) = delete;
  ~RelaxedCaptureMode() { d_.cuThreadExchangeStreamCaptureMode(&mode_); }

 private:
  const driver::Driver& d_;
  int mode_ = driver::capture_mode_relaxed;  // in between, the thread's own mode
};

}  // namespace sinter::inline v1::runtime
