#include "streams.hpp"
#include "waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sinter/runtime/error.hpp>
#include <utility>

namespace sinter::inline v1::runtime {
namespace {

constinit thread_local CurrentStream* innermost_guard = nullptr;

/// Whether a capture makes it unnecessary that `stream` waits for `other`. Throws if it must wait but cannot.
bool excused_by_capture(StreamImpl& stream, StreamImpl& other) {
  const bool captures = stream.owner.is_capturing(stream), other_captures = other.owner.is_capturing(other);
  if (captures == other_captures) return false;
  if (other_captures)
    throw CudaError(fmt::format(
        "CUDA error: {} cannot wait for {}, which captures a graph: captured work runs when the graph is launched. End "
        "the capture before using its tensors on another stream",
        describe(stream), describe(other)));
  if (other.owner.is_idle(other)) return true;
  throw CudaError(
      fmt::format("CUDA error: {} captures a graph and cannot wait for {}, whose work is not part of it. Call "
                  "sn::synchronize({}) before the capture begins",
                  describe(stream), describe(other), other.owner.device().index()));
}

}  // namespace

constinit std::atomic<bool> order_matters{false};

std::string describe(const StreamImpl& stream) {
  if (stream.kind == StreamImpl::Kind::Default)
    return fmt::format("the default stream of {}", to_string(stream.owner.device()));
  return fmt::format("{} {} of {}", stream.kind == StreamImpl::Kind::Own ? "stream" : "foreign stream", stream.native,
                     to_string(stream.owner.device()));
}

CurrentStream::CurrentStream(StreamRef s) noexcept
    : stream(std::move(s)), outer(std::exchange(innermost_guard, this)) {}

CurrentStream::~CurrentStream() {
  CurrentStream** link = &innermost_guard;  // guards on the heap may end in any order
  while (*link && *link != this) link = &(*link)->outer;
  if (*link) *link = outer;  // otherwise another thread made it, and it remains with that thread
}

void StreamImpl::release() const noexcept {
  if (handles.fetch_sub(1, std::memory_order_acq_rel) == 1) owner.retire(const_cast<StreamImpl&>(*this));
}

void EventImpl::destroy(EventImpl* event) noexcept {
  event->owner.recycle(*event);
  delete event;
}

Streams::Streams(Device device, StreamCalls& calls) : device_(device), calls_(calls) {
  default_ = &add_new(StreamImpl::Kind::Default);
}

Streams::~Streams() {
  for (KnownStream& k : streams_) {
    k.last = EventRef();
    if (k.stream->kind != StreamImpl::Kind::Foreign) calls_.destroy_stream(k.stream->native);
  }
  for (const std::vector<void*>& idle : idle_events_)
    for (void* const event : idle) calls_.destroy_event(event);
}

StreamImpl& Streams::innermost() noexcept {
  for (const CurrentStream* guard = innermost_guard; guard; guard = guard->outer)
    if (&guard->stream->owner == this) return *guard->stream;
  return *default_;
}

Streams::KnownStream& Streams::known(const StreamImpl& stream) {
  return *std::ranges::find_if(streams_, [&](const KnownStream& k) { return k.stream.get() == &stream; });
}

StreamImpl& Streams::add(void* native, StreamImpl::Kind kind) {
  return *streams_.emplace_back(std::make_unique<StreamImpl>(*this, native, kind)).stream;
}

StreamImpl& Streams::add_new(StreamImpl::Kind kind) {
  void* const native = calls_.create_stream();
  try {
    return add(native, kind);
  } catch (...) {
    calls_.destroy_stream(native);
    throw;
  }
}

StreamRef Streams::create() {
  order_matters.store(true, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  // The most recently freed one, so that its cached memory is used.
  for (auto k = streams_.rbegin(); k != streams_.rend(); ++k)
    if (k->retired && k->stream->kind == StreamImpl::Kind::Own) {
      k->retired = false;
      return StreamRef::share(k->stream.get());
    }
  return StreamRef::share(&add_new(StreamImpl::Kind::Own));
}

StreamRef Streams::wrap(void* native) {
  order_matters.store(true, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  for (KnownStream& k : streams_) {
    if (k.stream->native != native) continue;
    if (k.retired && k.last) {  // possibly another stream with the same address
      calls_.wait(native, k.last->native);
      k.last = EventRef();
    }
    k.retired = false;
    return StreamRef::share(k.stream.get());
  }
  return StreamRef::share(&add(native, StreamImpl::Kind::Foreign));
}

void Streams::retire(StreamImpl& stream) noexcept {
  if (stream.kind == StreamImpl::Kind::Default) return;
  const std::lock_guard lock(mutex_);
  KnownStream& k = known(stream);
  if (k.retired || stream.handles.load(std::memory_order_acquire) != 0) return;
  k.retired = true;
  if (stream.kind == StreamImpl::Kind::Own) return;
  try {
    if (!calls_.is_capturing(stream.native)) k.last = record(stream);
  } catch (...) {
    // Without an event no stream could wait for it later. A device that cannot synchronize either is lost.
    try {
      calls_.synchronize(stream.native);
    } catch (...) {
    }
  }
}

Streams::All Streams::all() {
  All found;
  const std::lock_guard lock(mutex_);
  for (KnownStream& k : streams_)
    if (k.stream->kind != StreamImpl::Kind::Foreign || !k.retired)
      found.open.push_back(StreamRef::share(k.stream.get()));
    else if (k.last)
      found.last.push_back(k.last);
  return found;
}

void Streams::synchronize() {
  const WaitSpan wait("synchronize the device");
  const All streams = all();
  for (const StreamRef& s : streams.open) calls_.synchronize(s->native);
  for (const EventRef& e : streams.last) calls_.synchronize_event(e->native);
}

std::optional<std::vector<EventRef>> Streams::ends() {
  All streams = all();
  for (const StreamRef& s : streams.open)
    if (calls_.is_capturing(s->native)) return std::nullopt;
  for (const StreamRef& s : streams.open) streams.last.push_back(record(*s));
  return std::move(streams.last);
}

EventRef Streams::record(const StreamImpl& stream, bool timed) {
  void* native = nullptr;
  {
    const std::lock_guard lock(events_mutex_);
    std::vector<void*>& idle = idle_events_[timed];
    if (!idle.empty()) native = idle.back(), idle.pop_back();
  }
  if (!native) native = calls_.create_event(timed);
  EventRef event;
  try {
    event = EventRef::adopt(new EventImpl(*this, native, timed, stream.may_capture));
  } catch (...) {
    calls_.destroy_event(native);
    throw;
  }
  calls_.record(native, stream.native);
  return event;
}

/// A retired foreign stream's handle may be invalid: its last event represents it.
template <class F, class G>
auto Streams::alive_or_retired(const StreamImpl& stream, F alive, G retired) {
  if (stream.kind != StreamImpl::Kind::Foreign) return alive();
  const std::lock_guard lock(mutex_);
  const KnownStream& k = known(stream);
  return k.retired ? retired(k.last) : alive();
}

EventRef Streams::end_of(const StreamImpl& stream) {
  return alive_or_retired(stream, [&] { return record(stream); }, [](const EventRef& last) { return last; });
}

bool Streams::is_retired(const StreamImpl& stream) {
  return alive_or_retired(stream, [] { return false; }, [](const EventRef&) { return true; });
}

bool Streams::is_idle(const StreamImpl& stream) {
  return alive_or_retired(
      stream, [&] { return calls_.is_idle(stream.native); },
      [&](const EventRef& last) { return !last || calls_.is_done(last->native); });
}

bool Streams::is_capturing(const StreamImpl& stream) {
  return alive_or_retired(
      stream, [&] { return calls_.is_capturing(stream.native); }, [](const EventRef&) { return false; });
}

void Streams::synchronize(const EventImpl& event) {
  const WaitSpan wait("synchronize an event");
  calls_.synchronize_event(event.native);
}

void Streams::synchronize(const StreamImpl& stream) {
  const WaitSpan wait("synchronize a stream");
  EventRef last;
  if (!alive_or_retired(stream, [] { return false; }, [&](const EventRef& e) { return last = e, true; }))
    calls_.synchronize(stream.native);  // after unlocking
  else if (last)
    calls_.synchronize_event(last->native);
}

void Streams::recycle(EventImpl& event) noexcept {
  try {
    const std::lock_guard lock(events_mutex_);
    idle_events_[event.timed].push_back(event.native);
  } catch (...) {  // out of memory: it is not reused
    calls_.destroy_event(event.native);
  }
}

void wait_for(StreamImpl& stream, StreamImpl& other) {
  if (&stream == &other || excused_by_capture(stream, other)) return;
  if (const EventRef end = other.owner.end_of(other)) stream.owner.wait(stream, *end);
}

void wait_for(StreamImpl& stream, const EventImpl& event) {
  stream.owner.wait(stream, event);
  if (event.may_be_captured && !stream.may_capture)  // the stream may have become part of the graph
    stream.may_capture = stream.owner.is_capturing(stream);
}

}  // namespace sinter::inline v1::runtime
