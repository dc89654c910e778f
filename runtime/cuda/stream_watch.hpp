// Waits for work of other libraries that may never end, as NCCL's where a peer has died.
#pragma once
#include <string>

#include "driver.hpp"

namespace sinter::inline v1::runtime {

/// Something that knows why work on streams does not end. While some is expected, whoever waits for a stream asks now
/// and then, in place of a driver's wait that nothing ends.
class StreamWatch {
 public:
  StreamWatch(const StreamWatch&) = delete;
  StreamWatch& operator=(const StreamWatch&) = delete;

  /// Called from any thread that waits, by one at a time. Ends work that nothing else ends, and gives why; empty where
  /// there is nothing to say.
  virtual std::string look() = 0;

 protected:
  StreamWatch() = default;
  /// To be called before what look() uses goes.
  void end_watch() noexcept;
  ~StreamWatch() { end_watch(); }
  /// How many pieces of work are expected to end, from now on. The first time that some are, others begin to ask.
  void expect(int pieces);

 private:
  bool is_asked_ = false;
  int expected_ = 0;
};

/// As the driver's calls. Throw Error where a watch ended what is waited for; then what the work was to write is
/// undefined.
driver::CUresult synchronize(const driver::Driver& d, driver::CUstream stream);
driver::CUresult synchronize(const driver::Driver& d, driver::CUevent event);

/// Where something is watched, until the stream's work is done: before a driver's call that would wait for it itself,
/// as copies to memory that is not pinned do.
void watch(const driver::Driver& d, driver::CUstream stream);

/// Lets this thread ask what is done while a graph is being captured somewhere: that disturbs no capture.
class MayAsk {
 public:
  explicit MayAsk(const driver::Driver& d) : d_(d) { d_.cuThreadExchangeStreamCaptureMode(&mode_); }
  MayAsk(const MayAsk&) = delete;
  MayAsk& operator=(const MayAsk&) = delete;
  ~MayAsk() { d_.cuThreadExchangeStreamCaptureMode(&mode_); }

 private:
  const driver::Driver& d_;
  int mode_ = driver::capture_mode_relaxed;  // the thread's own one, in between
};

}  // namespace sinter::inline v1::runtime
