// A strided array on a device without a static element type: what jit/ reads and writes.
#pragma once
#include <sinter/runtime/buffer.hpp>
#include <sinter/runtime/dtype.hpp>
#include <sinter/runtime/shape.hpp>
#include <sinter/runtime/shared_count.hpp>

namespace sinter::inline v1::runtime {

/// In place of a sharded axis: there is none, or (as an argument of view()) the strides determine it, which they cannot
/// for a single row. No two such constants of any file are equal.
inline constexpr int no_axis = -1, axis_by_strides = -2;

struct TensorImpl : SharedCount {
  DType dtype = DType::Float32;
  bool contiguous = true;              // row-major without gaps
  std::int8_t sharded_axis = no_axis;  // on a mesh, counted from the first axis; no_axis if replicated
  Device device;
  std::byte* data = nullptr;  // first element; null when there is no memory, as in an iota tensor
  std::int64_t first = 0;     // of an iota tensor: the value of its first element; on a mesh: its index in the array
  std::int64_t numel = 1;
  Shape shape;
  Shape strides;  // in elements; of any sign, 0 for expanded axes
  Ref<Buffer> buffer;

  int ndim() const noexcept { return shape.ndim(); }
  void release() noexcept {
    if (SharedCount::release()) destroy(this);
  }
  void drop() noexcept {
    if (SharedCount::drop()) destroy(this);
  }
  static void destroy(TensorImpl* impl) noexcept;
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory) noexcept;
};

using TensorRef = Ref<TensorImpl>;

/// The tensor with a hold, for an expression.
inline TensorImpl* held(const TensorRef& t) noexcept {
  if (t) t->hold();
  return t.get();
}

/// Uninitialized and contiguous. Throws ShapeError, OutOfMemory, DeviceError.
TensorRef empty(const Shape& shape, DType dtype, Device device);

/// Uninitialized and contiguous, on the CPU in page-locked memory. Throws ShapeError, OutOfMemory, DeviceError.
TensorRef empty_pinned(const Shape& shape, DType dtype);

/// A contiguous tensor over existing memory, which `owner` keeps alive: nothing is copied. Throws ShapeError, and Error
/// if `data` is not aligned for the dtype.
TensorRef wrap_memory(const Shape& shape, DType dtype, std::byte* data, std::shared_ptr<const void> owner,
                      Device device = Device());
/// Whether elements are in row-major order without gaps. The stride of an axis with extent 1 does not matter.
bool is_contiguous(const Shape& shape, const Shape& strides) noexcept;
/// Whether `data` is aligned for the dtype.
bool is_aligned(const std::byte* data, DType dtype) noexcept;

/// Another view of the same memory, starting `offset` elements further on. Sets `contiguous` from shape and strides.
/// `sharded_axis` is its sharded axis.
TensorRef view(const TensorImpl& of, const Shape& shape, const Shape& strides, std::int64_t offset = 0,
               int sharded_axis = axis_by_strides);

/// A tensor without memory whose element i is its row-major index i (int64), which kernels compute. The elements of a
/// view keep their values.
TensorRef iota_tensor(const Shape& shape, Device device);
/// A 0-d tensor of a float dtype without memory that leaves any sum unchanged: kernels use the constant -0. It replaces
/// an absent tensor.
TensorRef absent_addend(DType dtype, Device device);
/// Whether a tensor has no memory: an iota tensor or an absent addend.
inline bool lacks_memory(const TensorImpl& t) noexcept { return t.data == nullptr && t.numel > 0 && !t.buffer; }

/// The bytes [first, second) that hold a tensor's elements; empty if it has no elements or no memory.
std::pair<const std::byte*, const std::byte*> byte_range(const TensorImpl& t) noexcept;

/// "float32 (2, 3) on cuda:0", for messages.
std::string describe(const TensorImpl& t);

}  // namespace sinter::inline v1::runtime
