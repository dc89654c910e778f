// The driver's streams and events of one GPU.
#pragma once
#include "../streams.hpp"
#include "context.hpp"

namespace sinter::inline v1::runtime {

class CudaStreams final : public StreamCalls {
 public:
  explicit CudaStreams(const CudaContext& context) : context_(context), d_(context.driver()) {}

  void* create_stream() override;
  void destroy_stream(void* stream) noexcept override;
  bool is_idle(void* stream) override;
  bool is_capturing(void* stream) override;
  void synchronize(void* stream) override;
  void* create_event(bool timed) override;
  void destroy_event(void* event) noexcept override;
  void record(void* event, void* stream) override;
  void wait(void* stream, void* event) override;
  bool is_done(void* event) override;
  void synchronize_event(void* event) override;
  float elapsed_ms(void* begin, void* end) override;

 private:
  bool is_ready(const char* call, driver::CUresult result) const;

  const CudaContext& context_;
  const driver::Driver& d_;
};

inline driver::CUstream cuda_stream(const StreamImpl& stream) noexcept {
  return static_cast<driver::CUstream>(stream.native);
}

}  // namespace sinter::inline v1::runtime
