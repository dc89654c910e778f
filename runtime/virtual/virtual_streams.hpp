// Streams and events of a virtual GPU, whose work is done when a call returns.
#pragma once
#include "../streams.hpp"

namespace sinter::inline v1::runtime::vgpu {

class VirtualStreams final : public StreamCalls {
 public:
  void* create_stream() override;
  void destroy_stream(void* stream) noexcept override;
  bool is_idle(void*) override { return true; }
  bool is_capturing(void*) override { return false; }
  void synchronize(void*) override {}
  void* create_event(bool timed) override;
  void destroy_event(void* event) noexcept override;
  void record(void* event, void* stream) override;
  void wait(void*, void*) override {}
  bool is_done(void*) override { return true; }
  void synchronize_event(void*) override {}
  float elapsed_ms(void* begin, void* end) override;
};

}  // namespace sinter::inline v1::runtime::vgpu
