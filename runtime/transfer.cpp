#include <sinter/runtime/transfer.hpp>

#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/order.hpp>

namespace sinter::inline v1::runtime {
namespace {

void upload_buffer(Span to, Span from, std::size_t bytes) {
  Backend& device = backend(to.buffer->device());
  const bool pinned = from.buffer->is_pinned();
  const BufferAccess uses[] = {{to.buffer, true}, {pinned ? from.buffer : nullptr, false}};
  DependencyGuard ordered(to.buffer->device(), uses);
  if (pinned)
    device.upload_pinned(to.data, from.data, bytes);
  else
    device.upload(to.data, from.data, bytes);
  ordered.mark_end();
}

void copy_on_device(Span to, Span from, std::size_t bytes) {
  const Device target = to.buffer->device(), source = from.buffer->device();
  // With copies between GPUs, the order of two default streams begins to matter.
  if (target != source) order_matters.store(true, std::memory_order_relaxed);
  const BufferAccess uses[] = {{to.buffer, true}, {from.buffer, false}};
  DependencyGuard ordered(target, uses);
  backend(target).copy(to.data, from.data, bytes, backend(source));
  if (target != source) ordered.mark_end();
}

}  // namespace

void upload(Span to, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  const BufferAccess use{to.buffer, true};
  DependencyGuard ordered(to.buffer->device(), {&use, 1});
  backend(to.buffer->device()).upload(to.data, host, bytes);
  ordered.mark_end();
}

void download(void* host, Span from, std::size_t bytes) {
  if (bytes == 0) return;
  const BufferAccess use{from.buffer, false};
  const DependencyGuard ordered(from.buffer->device(), {&use, 1});
  backend(from.buffer->device()).download(host, from.data, bytes);
}

void copy(Span to, Span from, std::size_t bytes) {
  if (bytes == 0) return;
  const Device target = to.buffer->device(), source = from.buffer->device();
  if (target.is_cuda() && source.is_cpu()) return upload_buffer(to, from, bytes);
  if (target.kind() == source.kind()) return copy_on_device(to, from, bytes);
  const BufferAccess use{to.buffer, true};
  const DependencyGuard host_waits(target, {&use, 1});
  download(to.data, from, bytes);
}

}  // namespace sinter::inline v1::runtime
