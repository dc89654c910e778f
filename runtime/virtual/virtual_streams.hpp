// Streams and events of a virtual GPU, whose work is done when a call returns, or late. The strict tier records the
// order that they establish.
#pragma once
#include "../streams.hpp"
#include "happens_before.hpp"
#include "late_work.hpp"

namespace sinter::inline v1::runtime::vgpu {

class VirtualStreams final : public StreamCalls {
 public:
  explicit VirtualStreams(int gpu) : gpu_(gpu) {}
  void* create_stream() override;
  void destroy_stream(void* stream) noexcept override;
  bool is_idle(void* stream) override;
  bool is_capturing(void*) override { return false; }
  void synchronize(void* stream) override;
  void* create_event(bool timed) override;
  void destroy_event(void* event) noexcept override;
  void record(void* event, void* stream) override;
  void wait(void* stream, void* event) override;
  bool is_done(void* event) override;
  bool is_past(void* event) override;
  void synchronize_event(void* event) override;
  float elapsed_ms(void* begin, void* end) override;

  /// The work that is done when the event is done, in the strict tier.
  static const Clock& over(void* event);
  /// The work before the event, if work is done late.
  static const LateWork::Mark& mark(void* event);

 private:
  StreamName named(const void* stream) const noexcept { return {gpu_, stream}; }

  int gpu_;
};

}  // namespace sinter::inline v1::runtime::vgpu
