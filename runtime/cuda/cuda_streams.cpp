#include "cuda_streams.hpp"

#include "stream_watch.hpp"

namespace sinter::inline v1::runtime {
namespace {

using driver::CUevent;
using driver::CUstream;

CUstream as_stream(void* stream) noexcept { return static_cast<CUstream>(stream); }
CUevent as_event(void* event) noexcept { return static_cast<CUevent>(event); }

}  // namespace

void* CudaStreams::create_stream() {
  const ContextGuard current(context_);
  CUstream stream = nullptr;
  context_.check("cuStreamCreate", d_.cuStreamCreate(&stream, driver::stream_non_blocking));
  return stream;
}

void CudaStreams::destroy_stream(void* stream) noexcept {
  if (!context_.is_of_parent()) d_.cuStreamDestroy(as_stream(stream));
}

bool CudaStreams::is_ready(const char* call, driver::CUresult result) const {
  if (result == driver::error_not_ready) return false;
  context_.check(call, result);
  return true;
}

bool CudaStreams::is_idle(void* stream) {
  const ContextGuard current(context_);
  const RelaxedCaptureMode may_ask(d_);
  return is_ready("cuStreamQuery", d_.cuStreamQuery(as_stream(stream)));
}

bool CudaStreams::is_capturing(void* stream) {
  const ContextGuard current(context_);
  int status = driver::capture_status_none;
  context_.check("cuStreamIsCapturing", d_.cuStreamIsCapturing(as_stream(stream), &status));
  return status != driver::capture_status_none;
}

void CudaStreams::synchronize(void* stream) {
  const ContextGuard current(context_);
  context_.check("cuStreamSynchronize", runtime::synchronize(d_, as_stream(stream)));
}

void* CudaStreams::create_event(bool timed) {
  const ContextGuard current(context_);
  CUevent event = nullptr;
  context_.check("cuEventCreate",
                 d_.cuEventCreate(&event, timed ? driver::event_default : driver::event_disable_timing));
  return event;
}

void CudaStreams::destroy_event(void* event) noexcept {
  if (!context_.is_of_parent()) d_.cuEventDestroy(as_event(event));
}

void CudaStreams::record(void* event, void* stream) {
  const ContextGuard current(context_);
  context_.check("cuEventRecord", d_.cuEventRecord(as_event(event), as_stream(stream)));
}

void CudaStreams::wait(void* stream, void* event) {
  const ContextGuard current(context_);
  context_.check("cuStreamWaitEvent", d_.cuStreamWaitEvent(as_stream(stream), as_event(event), 0));
}

bool CudaStreams::is_done(void* event) {
  const ContextGuard current(context_);
  const RelaxedCaptureMode may_ask(d_);
  return is_ready("cuEventQuery", d_.cuEventQuery(as_event(event)));
}

void CudaStreams::synchronize_event(void* event) {
  const ContextGuard current(context_);
  context_.check("cuEventSynchronize", runtime::synchronize(d_, as_event(event)));
}

float CudaStreams::elapsed_ms(void* begin, void* end) {
  const ContextGuard current(context_);
  float ms = 0;
  context_.check("cuEventElapsedTime", d_.cuEventElapsedTime(&ms, as_event(begin), as_event(end)));
  return ms;
}

}  // namespace sinter::inline v1::runtime
