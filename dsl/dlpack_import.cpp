#include <sinter/dsl/dlpack.hpp>

#include <fmt/format.h>

#include <cstring>

#include <runtime/registry.hpp>
#include <sinter/runtime/order.hpp>
#include "dlpack_types.hpp"
#include "strided_range.hpp"

namespace sinter::inline v1::detail {

/// Calls the deleter if it holds a structure.
struct DLPackImporter::Owner {
  Owner() = default;
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    if (managed) release(managed);
  }
  void* managed = nullptr;
  void (*release)(void*) = nullptr;
};

namespace {

/// The layout of the elements in Sinter's terms.
struct MemoryLayout {
  Shape shape;
  Shape strides;
  StridedRange range;
};

[[noreturn]] void throw_too_large(const Shape& shape, const Shape& strides) {
  throw ShapeError(fmt::format("from_dlpack: a tensor of shape {} and strides {} exceeds the address space",
                               to_string(shape), to_string(strides)));
}

Shape shape_of(const dlpack::Tensor& t) {
  if (t.ndim < 0 || t.ndim > max_ndim)
    throw ShapeError(fmt::format("from_dlpack: the tensor has {} axes, but Sinter supports 0 to {}: reshape it first",
                                 t.ndim, max_ndim));
  if (t.ndim > 0 && !t.shape)
    throw Error(fmt::format("from_dlpack: a tensor of {} axes has a null shape: the producer is wrong", t.ndim));
  return t.ndim > 0 ? Shape(std::span(t.shape, static_cast<std::size_t>(t.ndim))) : Shape();
}

MemoryLayout layout_of(const dlpack::Tensor& t, std::size_t element_size) {
  MemoryLayout layout;
  layout.shape = shape_of(t);
  check_shape(layout.shape, element_size);
  layout.strides = contiguous_strides(layout.shape);
  for (int axis = 0; t.strides && layout.shape.numel() > 0 && axis < t.ndim; ++axis)
    if (layout.shape[axis] != 1) layout.strides[axis] = t.strides[axis];  // for other axes it may be anything
  const std::optional<StridedRange> range = strided_range(layout.shape, layout.strides, element_size);
  if (!range) throw_too_large(layout.shape, layout.strides);
  layout.range = *range;
  return layout;
}

std::byte* first_element(const dlpack::Tensor& t, const MemoryLayout& layout, std::size_t element_size) {
  if (layout.range.span == 0) return nullptr;
  if (!t.data)
    throw Error(fmt::format("from_dlpack: a tensor of shape {} has a null data pointer: the producer is wrong",
                            to_string(layout.shape)));
  const auto data = reinterpret_cast<std::uintptr_t>(t.data);
  const auto before = static_cast<std::uintptr_t>(layout.range.before) * element_size;
  const auto after = static_cast<std::uintptr_t>(layout.range.span - layout.range.before) * element_size;
  std::uintptr_t first = 0, end = 0;
  if (__builtin_add_overflow(data, t.byte_offset, &first) || first < before ||
      __builtin_add_overflow(first, after, &end))
    throw_too_large(layout.shape, layout.strides);
  return reinterpret_cast<std::byte*>(first);
}

/// Copies element by element, from any addresses.
TensorRef gathered(const MemoryLayout& layout, DType dtype, const std::byte* first) {
  TensorRef dense = runtime::empty(layout.shape, dtype, Device());
  const std::size_t size = size_of(dtype);
  const auto bytes = static_cast<std::int64_t>(size);
  Shape position = layout.shape;
  for (int axis = 0; axis < position.ndim(); ++axis) position[axis] = 0;
  std::byte* to = dense->data;
  for (std::int64_t i = 0; i < dense->numel; ++i, to += size) {
    std::memcpy(to, first, size);
    for (int axis = layout.shape.ndim() - 1; axis >= 0; --axis) {
      first += layout.strides[axis] * bytes;
      if (++position[axis] < layout.shape[axis]) break;
      first -= layout.strides[axis] * layout.shape[axis] * bytes;
      position[axis] = 0;
    }
  }
  return dense;
}

TensorRef copy_of(const TensorImpl& t) {
  TensorRef copy = runtime::empty(t.shape, t.dtype, t.device);
  jit::copy(*copy, t);
  return copy;
}

/// Whether the tensor is copied. Throws if a copy is necessary but not allowed.
bool decide_copy(const DLPackImport& options, bool read_only, bool aligned, DType dtype, Device device) {
  if (!aligned && device.is_cuda())
    throw Error(
        fmt::format("from_dlpack: the elements are not aligned to {} bytes, as a GPU requires for {}: have the "
                    "producer copy the tensor",
                    size_of(dtype), name(dtype)));
  if (read_only && options.copy == false)
    throw Error(
        "from_dlpack: the tensor is read-only, but Sinter's tensors are writable: omit copy, or set it to true");
  if (!aligned && options.copy == false)
    throw Error(fmt::format(
        "from_dlpack: the elements are not aligned to {} bytes, as {} requires: omit copy, or set it to true",
        size_of(dtype), name(dtype)));
  return read_only || !aligned || options.copy == true;
}

/// Orders our work after the producer's.
void order_after(const Stream& stream, dlpack::DeviceType memory, runtime::TensorImpl& t) {
  if (memory == dlpack::DeviceType::CudaHost) return stream.synchronize();
  if (stream.device() != t.device)
    throw DeviceError(fmt::format("from_dlpack: the stream is on {}, but the tensor is {}{}",
                                  to_string(stream.device()), describe(t),
                                  t.device.is_cpu() ? ": it needs no stream" : ""));
  const StreamGuard on(stream);
  const runtime::BufferAccess written{t.buffer.get(), true};
  const runtime::DependencyGuard ordered(t.device, {&written, 1});
}

[[noreturn]] void throw_null() { throw Error("from_dlpack: the pointer to the tensor is null"); }

}  // namespace

DLPackImporter::DLPackImporter(const dlpack::ManagedTensorVersioned* managed, const DLPackImport& options) {
  if (!managed) throw_null();
  // In another version no field after the deleter may be read.
  if (managed->version.major != dlpack::version.major)
    throw Error(
        fmt::format("from_dlpack: the tensor uses DLPack {}.{}, but this library reads {}.x: request that version from "
                    "the producer",
                    managed->version.major, managed->version.minor, dlpack::version.major));
  import(managed->dl_tensor, managed->flags & dlpack::flag_read_only, options);
}

DLPackImporter::DLPackImporter(const dlpack::ManagedTensor* managed, const DLPackImport& options) {
  if (!managed) throw_null();
  import(managed->dl_tensor, false, options);
}

void DLPackImporter::import(const dlpack::Tensor& t, bool read_only, const DLPackImport& options) {
  const DType dtype = dtype_from(t.dtype);
  const Device device = device_from(t.device);
  const MemoryLayout layout = layout_of(t, size_of(dtype));
  std::byte* const first = first_element(t, layout, size_of(dtype));
  const bool aligned = runtime::is_aligned(first, dtype);
  const bool copied = decide_copy(options, read_only, aligned, dtype, device);
  owner_ = std::make_shared<Owner>();
  // Aligned at least for bytes, to have a buffer for ordering after the stream.
  std::byte* const lowest = first ? first - layout.range.before * static_cast<std::int64_t>(size_of(dtype)) : nullptr;
  const TensorRef whole =
      runtime::wrap_memory(Shape(layout.range.span * (aligned ? 1 : static_cast<std::int64_t>(size_of(dtype)))),
                           aligned ? dtype : DType::UInt8, lowest, owner_, device);
  if (options.stream) order_after(*options.stream, t.device.device_type, *whole);
  whole->buffer->expose();
  if (!aligned) {
    tensor_ = gathered(layout, dtype, first);
  } else {
    tensor_ = runtime::view(*whole, layout.shape, layout.strides, layout.range.before);
    if (copied) tensor_ = copy_of(*tensor_);
  }
}

void DLPackImporter::take(void* managed, void (*release)(void*)) noexcept {
  owner_->release = release;
  owner_->managed = managed;
  owner_.reset();
}

}  // namespace sinter::inline v1::detail
