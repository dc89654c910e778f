#include <sinter/runtime/stream.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/error.hpp>
#include "streams.hpp"

namespace sinter::inline v1 {
namespace {

runtime::Streams& streams_of(Device device) {
  if (runtime::Streams* streams = runtime::backend(device).streams()) return *streams;
  throw DeviceError(
      fmt::format("{} has no streams: its work is done when a call returns. Streams belong to GPUs: name one, as in "
                  "sn::Stream s(0)",
                  to_string(device)));
}

/// Throws the fault that kernels reported before the wait that just ended.
void raise_fault(Device device) { runtime::gpu(device.index()).raise_fault(); }

}  // namespace

runtime::EventImpl& Event::impl() const {
  if (!impl_) throw Error("an event that was never recorded has no state: make it with stream.record()");
  return *impl_;
}

void Event::synchronize() const {
  impl().owner.synchronize(impl());
  raise_fault(device());
}

bool Event::query() const { return impl().owner.is_done(impl()); }

float Event::elapsed_ms(const Event& end) const {
  if (!impl().timed || !end.impl().timed)
    throw Error("elapsed_ms() needs events with timing: record both with stream.record(sn::Timing::On)");
  if (device() != end.device())
    throw Error(fmt::format("elapsed_ms() from an event of {} to one of {}: both must be on the same GPU",
                            to_string(device()), to_string(end.device())));
  return impl().owner.elapsed_ms(impl(), end.impl());
}

Device Event::device() const { return impl().owner.device(); }

void* Event::native() const {
  impl().may_be_captured = true;
  return impl().native;
}

Stream::Stream(Device device) : impl_(streams_of(device).create()) {}

Stream Stream::from_native(void* cu_stream, Device device) {
  constexpr std::uintptr_t per_thread_stream = 2;  // CU_STREAM_PER_THREAD
  if (reinterpret_cast<std::uintptr_t>(cu_stream) == per_thread_stream)
    throw Error(
        "CUDA's per-thread default stream is a different stream in each thread, which Sinter does not support: create "
        "a "
        "stream with cuStreamCreate, or sn::Stream, for each thread");
  return Stream(streams_of(device).wrap(cu_stream));
}

runtime::StreamImpl& Stream::impl() const {
  if (!impl_) throw Error("this stream was moved from: copy it if it is needed twice");
  return *impl_;
}

const runtime::StreamRef& Stream::ref() const {
  impl();
  return impl_;
}

Device Stream::device() const { return impl().owner.device(); }

void* Stream::native() const {
  impl().may_capture = true;
  return impl().native;
}

void Stream::synchronize() const {
  impl().owner.synchronize(impl());
  raise_fault(device());
}

bool Stream::query() const { return impl().owner.is_idle(impl()); }

void Stream::wait(const Event& event) const { runtime::wait_for(impl(), event.impl()); }

void Stream::wait(const Stream& other) const { runtime::wait_for(impl(), other.impl()); }

Event Stream::record(Timing timing) const { return Event(impl().owner.record(impl(), timing == Timing::On)); }

Stream current_stream(Device device) { return Stream(runtime::StreamRef::share(&streams_of(device).current())); }

Stream default_stream(Device device) { return Stream(runtime::StreamRef::share(&streams_of(device).standard())); }

StreamGuard::StreamGuard(const Stream& stream) : link_(stream.ref()), outer_device_(current_device()) {
  set_device(stream.device().index());
}

StreamGuard::~StreamGuard() { set_device(outer_device_); }

}  // namespace sinter::inline v1
