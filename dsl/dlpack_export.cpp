#include <sinter/dsl/dlpack.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <runtime/different_devices.hpp>
#include <sinter/runtime/backend.hpp>
#include <sinter/runtime/order.hpp>
#include "dlpack_types.hpp"

namespace sinter::inline v1::detail {
namespace {

/// What the structure points to. Deleting it releases the tensor.
template <class M>
struct Exported {
  M managed{};
  std::array<std::int64_t, max_ndim> shape{}, strides{};
  TensorRef tensor;
  std::optional<Stream> stream;  // the memory's next user waits for its work

  static void destroy(M* m) { delete static_cast<Exported*>(m->manager_ctx); }
};

template <class M>
M* exported(TensorRef t, const DLPackExport& options) {
  auto e = std::make_unique<Exported<M>>();
  std::ranges::copy(t->shape, e->shape.begin());
  std::ranges::copy(t->strides, e->strides.begin());
  e->managed.manager_ctx = e.get();
  e->managed.deleter = &Exported<M>::destroy;
  e->managed.dl_tensor = {.data = t->numel > 0 ? t->data : nullptr,
                          .device = dlpack_device(*t),
                          .ndim = t->ndim(),
                          .dtype = to_dlpack(t->dtype),
                          .shape = e->shape.data(),
                          .strides = e->strides.data(),
                          .byte_offset = 0};
  e->tensor = std::move(t);
  e->stream = options.stream;
  return &e.release()->managed;
}

/// Orders the consumer's work after ours, and ours after the consumer's.
void order_before(const TensorImpl& t, const Stream& stream) {
  if (stream.device() != t.device)
    throw DeviceError(fmt::format("to_dlpack: the consumer's stream is on {}, but the tensor is {}{}",
                                  to_string(stream.device()), describe(t),
                                  t.device.is_cpu() ? ": it needs no stream" : ""));
  const StreamGuard on(stream);
  const runtime::BufferAccess written{t.buffer.get(), true};
  const runtime::DependencyGuard ordered(t.device, {&written, 1});
}

/// Waits until the elements are visible to any reader.
void await(const TensorImpl& t) {
  if (t.device.is_cpu()) return;
  if (runtime::order_matters.load(std::memory_order_relaxed)) {
    const runtime::BufferAccess written{t.buffer.get(), true};
    const runtime::DependencyGuard on_host(Device(), {&written, 1});
  } else {
    default_stream(t.device).synchronize();
  }
  runtime::gpu(t.device.index()).raise_fault();
}

}  // namespace

TensorRef dlpack_source(TensorImpl& t, const DLPackExport& options) {
  runtime::refuse_mesh("to_dlpack", t);
  TensorRef source = TensorRef::share(&t);
  if (options.copy || runtime::lacks_memory(t)) {
    source = runtime::empty(t.shape, t.dtype, t.device);
    jit::copy(*source, t);
  }
  if (options.stream)
    order_before(*source, *options.stream);
  else
    await(*source);
  if (source->buffer) source->buffer->expose();
  return source;
}

dlpack::ManagedTensorVersioned* to_dlpack(TensorRef t, const DLPackExport& options) {
  auto* const managed = exported<dlpack::ManagedTensorVersioned>(std::move(t), options);
  managed->version = dlpack::version;
  managed->flags = (options.read_only ? dlpack::flag_read_only : 0) | (options.copy ? dlpack::flag_is_copied : 0);
  return managed;
}

dlpack::ManagedTensor* to_dlpack_unversioned(TensorRef t, const DLPackExport& options) {
  if (options.read_only)
    throw Error("to_dlpack_unversioned: the structure from before DLPack 1.0 has no read-only flag: use to_dlpack");
  return exported<dlpack::ManagedTensor>(std::move(t), options);
}

}  // namespace sinter::inline v1::detail
